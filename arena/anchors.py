"""One agent against fixed others: how training measures itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.base import Agent
from arena.blocks import as_agent, check_size, play_groups
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules, lower


@dataclass(frozen=True)
class AnchorResult:
    """How an agent did against one anchor.

    Attributes:
        anchor: the anchor's spec string.
        stakes_per_hand: what the agent was paid per hand.
        ci_half: half-width of its 95% interval.
        hands: hands played.
    """

    anchor: str
    stakes_per_hand: float
    ci_half: float
    hands: int


def evaluate(
    agent: Agent,
    anchors: Sequence[str | Agent],
    rules: str | LoweredRules = "pagat",
    players: int = 2,
    deals: int = 2000,
    seed: int = 0,
) -> list[AnchorResult]:
    """Plays an agent against each anchor on the same decks, in every seat.

    With more than two seats the anchor holds all others.

    Args:
        agent: the agent; it is started anew.
        anchors: spec strings, or agents.
        rules: the rules.
        players: seats at a table.
        deals: decks; the agent plays each once in every seat.
        seed: of decks and lots. No seed gives decks that training sees.

    Returns:
        Results in the order of `anchors`.

    Raises:
        TonkError: an anchor is not one or is the agent itself, a number is out of range, or an agent does not
            play these rules.
    """
    lowered = lower(rules)
    check_size(lowered, players, deals, seed)
    found = []
    for given in anchors:
        anchor = as_agent(given)
        if anchor is agent:
            raise TonkError(f"anchors: {anchor.name} is the agent that is measured")
        group = (0, *[1] * (players - 1))
        tally = play_groups([agent, anchor], [group], lowered, players, deals, seed)
        estimate = tally.per_hand(0)
        found.append(AnchorResult(anchor.name, estimate.mean, estimate.half, tally.hands(0)))
    return found
