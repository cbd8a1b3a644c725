"""What a run trains on and is measured by: the tables, and who measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agents.base import Agent
from agents.registry import make
from arena.anchors import AnchorResult
from arena.anchors import evaluate as anchored
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules
from train.config import TrainConfig
from train.selfplay.tables import SavedTables


@dataclass(frozen=True)
class Game:
    """The tables of a run, and what a checkpoint must say of them.

    Attributes:
        tables: what is played.
        rules: their rules; None for toys, which have none.
        rules_fingerprint: of the rules.
        actions_fingerprint: of the action table.
        observation_fingerprint: of the observation's planes.
        ending_names: what `tables.endings` counts, by code.
        can_drop: whether hands can end by a drop.
    """

    tables: SavedTables
    rules: LoweredRules | None
    rules_fingerprint: str
    actions_fingerprint: str
    observation_fingerprint: str
    ending_names: tuple[str, ...]
    can_drop: bool


def open_game(config: TrainConfig) -> Game:
    """Sets up the tables of a config.

    Raises:
        TonkError: no such rules, or they are not played by that many.
    """
    from tonk_env.engine.state import ENDINGS
    from tonk_env.vector import TonkTables

    tables = TonkTables(config.game.rules, config.game.players, config.rollout.tables, config.run.seed)
    rules = tables.rules[0]
    return Game(
        tables,
        rules,
        rules.fingerprint,
        rules.actions_fingerprint,
        tables.layouts[0].fingerprint,
        ENDINGS,
        rules.rules.drop.allowed,
    )


Evaluate = Callable[[Agent, Sequence[str], LoweredRules | None, int, int, int], Sequence[AnchorResult]]
"""`(agent, anchors, rules, num_players, deals, seed)` -> a result per anchor; equal seeds, equal decks."""


def evaluate(
    agent: Agent, anchors: Sequence[str], rules: LoweredRules | None, num_players: int, deals: int, seed: int
) -> Sequence[AnchorResult]:
    """Measures an agent in the arena: every deal is played from every seat, against each anchor in turn."""
    if rules is None:
        raise TonkError("toy tables have no rules that the arena could play by")
    return anchored(agent, anchors, rules, num_players, deals, seed)


def check_anchors(anchors: Sequence[str], rules: LoweredRules | None, num_players: int) -> None:
    """Makes sure before training that all anchors can play.

    Raises:
        TonkError: one cannot.
    """
    for anchor in anchors:
        agent = make(anchor)
        if rules is not None:
            agent.start(rules, num_players, 0)


def margin(anchors: Sequence[str], results: Sequence[AnchorResult], keep: str) -> float:
    """What ranks checkpoints: the worst or mean margin, or that against one of the anchors."""
    means = [result.stakes_per_hand for result in results]
    if keep == "worst":
        return min(means)
    return sum(means) / len(means) if keep == "mean" else means[anchors.index(keep)]
