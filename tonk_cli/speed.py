"""How fast our own parts are on one core: what `tonk bench` measures.

Uniformly random play ends nearly every hand by a drop after five decisions, and measures little but the
deal. Random play here drops with probability `DROP_PROBABILITY` where it may, and hands go on for about
eighty decisions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np

from tonk_env._jit import below, jit, mix
from tonk_env.batch import redeal
from tonk_env.engine.legal import legal_mask
from tonk_env.engine.settle import settle
from tonk_env.engine.state import ENDED
from tonk_env.engine.turn import apply
from tonk_env.limits import MAX_ACTIONS, MAX_SEATS
from tonk_env.observe import observe
from tonk_env.rules.lower import DROP
from tonk_env.vector import TonkTables
from tonk_env.view import VIEW_DTYPE, view

RULES, PLAYERS, TABLES = "pagat", 2, 512
DROP_PROBABILITY = 0.02
BOTS = ("reference", "heuristic:drop=20")
BOT_HANDS = 2048
"""Hands of one call of the arena's loop."""
REPETITIONS = 5
TRAINING_REPETITIONS = 3
_DROP_BELOW = round(DROP_PROBABILITY * 2**31)


@dataclass(frozen=True)
class Speed:
    """What was measured.

    Attributes:
        what: what was measured, in words.
        per_second: units of work for each second of the process's time, the best of some repetitions.
        facts: conditions that the figure depends on.
    """

    what: str
    per_second: float
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Shape:
    """The size of what training is measured on; the defaults are those of `train.config`."""

    tables: int = 512
    steps: int = 64
    batch: int = 4096
    epochs: int = 2
    layers: tuple[int, ...] = (256, 256)


SHAPE = Shape()


def best_rate(work: Callable[[int], int], seconds: float, repetitions: int = REPETITIONS) -> float:
    """Returns units of work for each second of this process's time, the best of some repetitions.

    The process's own time, so that other programs on the machine disturb little; the best, because what
    disturbs only slows down.

    Args:
        work: does an amount of work and returns how many units it came to; more amount, more units.
        seconds: about how long all repetitions take together; one amount is done in each at least.
        repetitions: how many.
    """
    amount, rates = 1, list[float]()
    while len(rates) < repetitions:
        start = time.process_time()
        units = work(amount)
        spent = time.process_time() - start
        if not rates and spent < seconds / repetitions / 2:
            amount *= 2
        else:
            rates.append(units / spent)
    return max(rates)


# ---- random play


@jit
def _pick(actions: Any, found: int, drop: int, word: int) -> int:
    """Draws one of `found` legal actions; drops, which come first, are rare."""
    skip = 0
    if found > 1 and actions[0] == drop:
        if (word & ((1 << 31) - 1)) < _DROP_BELOW:
            return int(actions[0])
        skip = 1
    return int(actions[skip + below(word, found - skip)])


@jit
def play_randomly(
    tables: Any,
    rules: Any,
    rounds: int,
    key: int,
    hand_numbers: Any,
    actions: Any,
    masks: Any,
    payments: Any,
    observing: bool,
    starts: Any,
    views: Any,
    observations: Any,
) -> int:
    """Plays at every table in turn, writing each decision's mask; pays and deals again where a hand ends.

    Args:
        tables: `[B]` STATE_DTYPE, all live.
        rules: `[1]` RULES_DTYPE.
        rounds: decisions at each table.
        key: fixes the chance.
        hand_numbers: `[B]` int64, of the next hand of each table.
        actions: `[MAX_ACTIONS]` int16, scratch space.
        masks: `[B, num_actions]` uint8; overwritten.
        payments: `[1, MAX_SEATS]` float64, scratch space.
        observing: write observations too.
        starts: `Layout.starts`.
        views: `[1]` VIEW_DTYPE, scratch space.
        observations: `[B, observation_size]` float32; overwritten where `observing`.

    Returns:
        How many hands ended.
    """
    drop = int(rules[0]["kind_first"][DROP])
    hands = 0
    for at in range(rounds):
        for i in range(tables.shape[0]):
            found = legal_mask(tables, i, rules, actions, masks, i)
            if observing:
                view(tables, i, int(tables[i]["seat"]), views, 0)
                observe(views, 0, rules, starts, observations, i)
            apply(tables, i, rules, _pick(actions, found, drop, mix(key, at * tables.shape[0] + i)))
            if tables[i]["phase"] == ENDED:
                settle(tables, i, rules, payments, 0)
                redeal(tables, i, rules, key, hand_numbers)
                hands += 1
    return hands


@jit
def _choose_by_masks(masks: Any, words: Any, drop: int, key: int, actions: Any, choices: Any) -> None:
    """Draws an action at every table from its mask alone, as an outside program would.

    Args:
        masks: `[B, num_actions]` uint8.
        words: the same memory as `[B, num_actions / 8]` int64, to skip eight zeros at a time.
        drop: the id of a drop.
        key: fixes the chance.
        actions: `[num_actions]` int16, scratch space.
        choices: `[B]` int32; overwritten.
    """
    for i in range(masks.shape[0]):
        found = 0
        for at in range(words.shape[1]):
            if words[i, at] != 0:
                for action in range(8 * at, 8 * at + 8):
                    if masks[i, action]:
                        actions[found] = action
                        found += 1
        choices[i] = _pick(actions, found, drop, mix(key, i))


def _play_in_loop(observing: bool, seconds: float) -> tuple[float, float]:
    """Measures the compiled loop; returns decisions per second, and per hand."""
    batch = TonkTables(RULES, PLAYERS, TABLES)
    rules, starts = batch.rules[0].record, batch.layouts[0].starts
    hand_numbers = np.zeros(TABLES, np.int64)
    actions, payments = np.zeros(MAX_ACTIONS, np.int16), np.zeros((1, MAX_SEATS))
    views, counted = np.zeros(1, VIEW_DTYPE), np.zeros(2, np.int64)

    def play(rounds: int) -> int:
        # The counter is a key that has not been used.
        hands = play_randomly(
            batch.tables, rules, rounds, int(counted[0]), hand_numbers, actions, batch.masks, payments,
            observing, starts, views, batch.observations,
        )  # fmt: skip
        counted[:] += rounds * TABLES, hands
        return rounds * TABLES

    play(1)  # compiles
    rate = best_rate(play, seconds)
    return rate, float(counted[0] / max(counted[1], 1))


def _play_by_steps(seconds: float) -> float:
    """Measures `TonkTables.step` with actions drawn from its masks; returns decisions per second."""
    batch = TonkTables(RULES, PLAYERS, TABLES)
    drop = int(batch.rules[0].record["kind_first"][0, DROP])
    actions, choices = np.zeros(batch.num_actions, np.int16), np.zeros(TABLES, np.int32)
    words, keys = batch.masks.view(np.int64), cycle(range(1 << 40))

    def play(steps: int) -> int:
        for _ in range(steps):
            _choose_by_masks(batch.masks, words, drop, next(keys), actions, choices)
            batch.step(choices)
        return steps * TABLES

    play(1)
    return best_rate(play, seconds)


def engine(seconds: float) -> Speed:
    """Random play in one compiled loop, the mask of every decision written."""
    rate, per_hand = _play_in_loop(False, seconds)
    return Speed("random play, masks written, one compiled loop", rate, _random_facts(per_hand))


def engine_observed(seconds: float) -> Speed:
    """The same with the observation of every decision written too; and by calls of `TonkTables.step`."""
    rate, per_hand = _play_in_loop(True, seconds)
    facts = _random_facts(per_hand) | {"tonk_tables_per_second": _play_by_steps(seconds)}
    return Speed("random play, masks and observations written, one compiled loop", rate, facts)


def _random_facts(decisions_per_hand: float) -> dict[str, Any]:
    return {
        "rules": RULES,
        "players": PLAYERS,
        "tables": TABLES,
        "drop_probability": DROP_PROBABILITY,
        "decisions_per_hand": round(decisions_per_hand, 2),
    }


# ---- agents


def rule_bots(seconds: float) -> Speed:
    """Whole hands between rule bots, as the arena plays them."""
    from agents.registry import make
    from arena.play import play_hands
    from tonk_env.rules import lower

    rules, agents = lower(RULES), [make(spec) for spec in BOTS]
    for agent in agents:
        agent.start(rules, PLAYERS, 0)
    rows = np.arange(BOT_HANDS)
    seating = np.stack([rows % 2, 1 - rows % 2], axis=1)
    counted = np.zeros(2, np.int64)

    def play(amount: int) -> int:
        for _ in range(amount):
            keys = counted[0] + rows
            played = play_hands(agents, seating, rules, keys, keys, rows // 2 % PLAYERS)
            counted[:] += BOT_HANDS, int(played.tables["moves"].sum())
        return amount * BOT_HANDS

    play(1)
    rate = best_rate(play, seconds)
    facts = {
        "rules": RULES,
        "players": PLAYERS,
        "agents": list(BOTS),
        "decisions_per_hand": round(float(counted[1] / counted[0]), 2),
    }
    return Speed(f"hands between {' and '.join(BOTS)}, as the arena plays them", rate, facts)


# ---- environments


def random_episodes(env: Any, drop: int | None = None) -> Callable[[int], int]:
    """Returns random play of an AEC environment, for `best_rate`: an amount of episodes; units are decisions.

    Args:
        env: an environment whose observations have an `action_mask`.
        drop: an action that is taken with `DROP_PROBABILITY` only, where there are others; None: all alike.
    """
    # Drawn beforehand: what is measured is the environment.
    words = cycle(np.random.default_rng(0).integers(1 << 31, size=4096).tolist())
    seeds = iter(range(1 << 40))

    def play(episodes: int) -> int:
        decisions = 0
        for _ in range(episodes):
            env.reset(seed=next(seeds))
            while env.agents:
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = np.flatnonzero(observation["action_mask"])
                word = next(words)
                if len(legal) > 1 and legal[0] == drop:
                    legal = legal[:1] if word < _DROP_BELOW else legal[1:]
                env.step(int(legal[word % len(legal)]))
                decisions += 1
        return decisions

    return play


def aec(seconds: float) -> Speed:
    """Random play of the PettingZoo environments."""
    from tonk_env import tonk_v0

    raw = tonk_v0.raw_env(RULES, PLAYERS)
    drop = int(raw.rules.record["kind_first"][0, DROP])
    rates = []
    for env in (raw, tonk_v0.env(RULES, PLAYERS)):
        play = random_episodes(env, drop)
        play(1)
        rates.append(best_rate(play, seconds))
    facts = {
        "rules": RULES,
        "players": PLAYERS,
        "drop_probability": DROP_PROBABILITY,
        "env_per_second": rates[1],
    }
    return Speed("random play of tonk_v0.raw_env; of tonk_v0.env beside it", rates[0], facts)


# ---- training


def training(seconds: float, shape: Shape = SHAPE) -> Speed:
    """Rollouts and updates of self-play."""
    from agents.neural.network import choose_precision
    from train.selfplay.ppo import SelfPlayPPO
    from train.selfplay.tables import TablesEnv

    precision = choose_precision("auto")
    model = SelfPlayPPO(
        env=TablesEnv(TonkTables(RULES, PLAYERS, shape.tables)),
        # As at the start of a run: each call of `learn` would anneal them to the end.
        learning_rate=(1.5e-3, 1.5e-3),
        entropy_coef=(0.08, 0.08),
        n_steps=shape.steps,
        batch_size=shape.batch,
        n_epochs=shape.epochs,
        layers=shape.layers,
        precision=precision,
        seed=0,
    )
    rollout = shape.tables * shape.steps

    def learn(rollouts: int) -> int:
        model.learn(rollouts * rollout, reset_num_timesteps=False)
        return rollouts * rollout

    rate = best_rate(learn, seconds, TRAINING_REPETITIONS)
    # Of one more rollout: the first may have compiled kernels.
    model.seconds.clear()
    start = time.perf_counter()
    learn(1)
    total = time.perf_counter() - start
    split = {name: round(spent / total, 3) for name, spent in model.seconds.items()}
    facts = {
        "rules": RULES,
        "players": PLAYERS,
        "tables": shape.tables,
        "steps": shape.steps,
        "batch": shape.batch,
        "epochs": shape.epochs,
        "layers": list(shape.layers),
        "precision": precision,
        "split": split | {"other": round(1 - sum(split.values()), 3)},
    }
    return Speed(f"self-play PPO, {precision}: rollouts and updates", rate, facts)


MEASURES: dict[str, Callable[[float], Speed]] = {
    "engine": engine,
    "engine_observed": engine_observed,
    "rule_bots": rule_bots,
    "aec": aec,
    "training": training,
}

__all__ = ["MEASURES", "SHAPE", "Shape", "Speed", "best_rate", "random_episodes"]
