"""Thousands of tables in one call are the same hands as one by one."""

from __future__ import annotations

import copy
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.api.steering import choose
from tonk_env import TonkError, TonkTables
from tonk_env._jit import mix
from tonk_env.batch import deal_match_hand, next_bet_deals
from tonk_env.engine.legal import legal_mask
from tonk_env.engine.settle import settle
from tonk_env.engine.state import ENDED, ENDINGS, OK, STATE_DTYPE
from tonk_env.engine.turn import apply
from tonk_env.limits import MAX_ACTIONS, MAX_SEATS
from tonk_env.observe import layout, observe
from tonk_env.rules import LoweredRules, lower, preset_names
from tonk_env.view import VIEW_DTYPE, view

VARIANTS: tuple[dict[str, Any], ...] = (
    {"slap": True, "deck": {"jokers": 2}, "deal": {"hand_size": 7}},
    {"deal": {"widow": True}, "deck": {"wild_ranks": "2"}, "spreads": {"must_spread": "yes"}},
)


def step_all(tables: TonkTables, rng: random.Random, drop: float = 0.05) -> np.ndarray:
    """A steered legal action for every table."""
    rules = [tables.rules[tables.variants[which][0]] for which in tables._variants]
    return np.array([choose(mask, each, rng, drop) for mask, each in zip(tables.masks, rules, strict=True)])


class OneTable:
    """The hands of one table of a batch, played alone, straight through the engine."""

    def __init__(self, rules: LoweredRules, num_players: int, seed: int, table: int, dealer: int) -> None:
        self.rules, self.num_players, self.key = rules, num_players, mix(seed, table)
        self.table, self.number, self.dealer = np.zeros(1, STATE_DTYPE), 0, dealer
        self.deal()

    def deal(self) -> None:
        """Deals, and again while a hand is won on the deal."""
        while True:
            stand = next_bet_deals(self.table, 0) if self.number else (1, 1)
            self.dealer = (self.dealer + 1) % self.num_players
            key = mix(self.key, self.number)
            self.number += 1
            deal_match_hand(
                self.table, 0, self.rules.record, 0, self.num_players, self.dealer, key, *stand, 1.0
            )
            if self.table["phase"][0] != ENDED:
                return

    def shown(self) -> tuple[int, bytes, bytes]:
        """The seat to move, and what it sees and may do."""
        views, actions = np.zeros(1, VIEW_DTYPE), np.zeros(MAX_ACTIONS, np.int16)
        place = layout(self.rules, self.num_players)
        observation = np.zeros((1, place.size), np.float32)
        masks = np.zeros((1, self.rules.num_actions), np.uint8)
        seat = int(self.table["seat"][0])
        view(self.table, 0, seat, views, 0)
        observe(views, 0, self.rules.record, place.starts, observation, 0)
        legal_mask(self.table, 0, self.rules.record, actions, masks, 0)
        return seat, observation.tobytes(), masks.tobytes()

    def step(self, action: int) -> tuple[list[float], int, int] | None:
        """Makes a move; returns payments, ending and decisions of a hand that ended."""
        assert apply(self.table, 0, self.rules.record, action) == OK
        if self.table["phase"][0] != ENDED:
            return None
        payments = np.zeros((1, MAX_SEATS))
        settle(self.table, 0, self.rules.record, payments, 0)
        end = payments[0].tolist(), int(self.table["ending"][0]), int(self.table["moves"][0])
        self.deal()
        return end


@pytest.mark.boundscheck
def test_a_mixed_batch_equals_its_hands_played_one_by_one() -> None:
    """Every preset, by every number of players that it is played by."""
    rules = [lower(each) for each in (*preset_names(), *VARIANTS)]
    wanted = [(index, seats) for index, each in enumerate(rules) for seats in each.rules.player_counts()]
    tables = TonkTables(rules, range(2, 7), num_tables=len(wanted), seed=17)
    assert sorted(set(tables.variants)) == wanted
    alone = []
    for row in range(tables.num_tables):
        index, seats = tables.variants[tables._variants[row]]
        assert int(tables.tables["num_players"][row]) == seats
        alone.append(OneTable(rules[index], seats, 17, row, row // len(tables.variants) % seats))
    rng, endings, hands = random.Random(0), set(), 0
    for _ in range(120):
        for row, one in enumerate(alone):
            seat, observation, mask = one.shown()
            assert tables.seats[row] == seat
            size = len(observation) // 4
            assert tables.observations[row, :size].tobytes() == observation
            assert not tables.observations[row, size:].any()
            assert tables.masks[row, : len(mask)].tobytes() == mask
            assert not tables.masks[row, len(mask) :].any()
        actions = step_all(tables, rng)
        tables.step(actions)
        for row, one in enumerate(alone):
            end = one.step(int(actions[row]))
            assert tables.ended[row] == (end is not None)
            payments, ending, decisions = end or ([0.0] * MAX_SEATS, 0, 0)
            assert tables.payments[row].tolist() == payments
            assert (tables.endings[row], tables.decisions[row]) == (ending, decisions)
            if end:
                hands += 1
                endings.add(ENDINGS[ending])
    assert hands > 250
    assert endings >= {"tonk", "out", "drop", "caught", "stock_out"}


def test_bets_stand_from_hand_to_hand_of_a_table() -> None:
    """A bet that nobody won stands another deal, by itself; one that was won begins anew."""
    rules = lower({"side_bets": {"suit": 1, "naturals": 2}, "deck": {"suits": 4, "ranks": "A23456789"}})
    tables = TonkTables(rules, 2, num_tables=12, seed=6)
    rng, stood, payments = random.Random(6), set(), np.zeros((1, MAX_SEATS))
    for _ in range(400):
        before, chosen = tables.tables.copy(), step_all(tables, rng, drop=0.3)
        tables.step(chosen)
        for row in np.flatnonzero(tables.ended).tolist():
            assert apply(before, row, rules.record, int(chosen[row])) == OK
            settle(before, row, rules.record, payments, 0)
            assert tables.payments[row].tolist() == payments[0, :2].tolist()
            deals = before["bet_deals"][row].tolist()
            winners = [int(before[f"{bet}_winner"][row]) for bet in ("suit", "naturals")]
            expected = [1 if winner >= 0 else k + 1 for winner, k in zip(winners, deals, strict=True)]
            assert tables.tables["bet_deals"][row].tolist() == expected
            stood.add(tuple(deals))
    assert (1, 1) in stood and max(naturals for _, naturals in stood) > 3
    assert max(suit for suit, _ in stood) > 1


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    tables = TonkTables(num_tables=5, seed=2)
    arrays = ("observations", "masks", "seats", "ended", "payments", "endings", "decisions")
    before = [tables.get_state(), *(getattr(tables, name).tobytes() for name in arrays)]
    for bad in (300, -1, tables.num_actions, 10**6):
        with pytest.raises(TonkError, match=rf"actions\[3\] = {bad}: not legal there; legal are \[0, 1, 2\]"):
            tables.step(np.array([1, 1, 1, bad, 1]))
        assert [tables.get_state(), *(getattr(tables, name).tobytes() for name in arrays)] == before
    with pytest.raises(TonkError, match="shape"):
        tables.step(np.array([1, 1]))
    tables.step(np.array([1, 1, 1, 1, 1]))


@pytest.mark.parametrize("bad", [2**32 + 1, 1.5, np.nan])
def test_an_action_that_does_not_fit_is_no_other_action(bad: float) -> None:
    """Narrowing to 32 bits must not turn it into a legal one."""
    tables = TonkTables(num_tables=1, seed=2)
    with pytest.raises(TonkError, match="actions"):
        tables.step(np.array([bad]))


def test_states_are_restored_exactly() -> None:
    tables = TonkTables(["pagat", "runout"], [2, 3], num_tables=12, seed=4)
    rng = random.Random(0)
    for _ in range(60):
        tables.step(step_all(tables, rng))
    state, rng_state = tables.get_state(), rng.getstate()
    other = TonkTables(["pagat", "runout"], [2, 3], num_tables=12, seed=99)
    futures = []
    for each in (tables, other, tables):
        each.set_state(state)
        rng.setstate(rng_state)
        seen = [each.observations.tobytes(), each.masks.tobytes(), each.seats.tobytes()]
        assert not each.ended.any()
        for _ in range(120):
            each.step(step_all(each, rng))
            seen.append(each.observations.tobytes() + each.payments.tobytes() + each.endings.tobytes())
        futures.append(seen)
    assert futures[0] == futures[1] == futures[2]
    with pytest.raises(TonkError, match="another number of tables"):
        TonkTables(num_tables=3).set_state(state)


def test_it_writes_into_the_callers_arrays() -> None:
    plain = TonkTables(num_tables=4, seed=1)
    size, actions = plain.observation_size, plain.num_actions
    store, masks = np.full((3, 4, size), 7, np.float32), np.full((4, actions), 7, np.uint8)
    tables = TonkTables(num_tables=4, seed=1, observations=store[1], masks=masks)
    rng = random.Random(0)
    for _ in range(30):
        assert np.array_equal(store[1], plain.observations)
        assert np.array_equal(masks, plain.masks)
        chosen = step_all(plain, rng)
        plain.step(chosen)
        tables.step(chosen)
    assert np.shares_memory(tables.observations, store)
    assert tables.masks is masks
    assert (store[[0, 2]] == 7).all()


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("observations", np.zeros((4, 3), np.float32)),
        ("observations", np.zeros((4, 614), np.float64)),
        ("masks", np.zeros((336, 4), np.uint8).T),
        ("masks", np.zeros((4, 336), np.int8)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, array: np.ndarray) -> None:
    with pytest.raises(TonkError, match=f"{name}: a writable contiguous array of shape"):
        TonkTables(num_tables=4, **{name: array})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"num_tables": 0}, "num_tables = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"num_players": 7}, "players = 7"),
        ({"rules": "whist"}, "whist"),
        ({"rules": ["pagat", "seattle"], "num_players": [2, 9]}, "players = 9"),
        ({"rules": []}, "rules"),
        ({"num_players": []}, "num_players"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(TonkError, match=named) as caught:
        TonkTables(**arguments)
    assert "\n" not in str(caught.value)


def test_reset_deals_the_same_hands_again() -> None:
    tables = TonkTables(num_tables=6, num_players=3, seed=8)
    first = tables.observations.copy()
    rng = random.Random(0)
    for _ in range(50):
        tables.step(step_all(tables, rng))
    tables.reset()
    assert np.array_equal(tables.observations, first)
    tables.reset(seed=9)
    assert not np.array_equal(tables.observations, first)
    assert np.array_equal(tables.observations, TonkTables(num_tables=6, num_players=3, seed=9).observations)


def test_a_table_does_not_depend_on_the_others() -> None:
    small, large = TonkTables(num_tables=2, seed=3), TonkTables(num_tables=30, seed=3)
    for _ in range(60):
        assert small.observations.tobytes() == large.observations[:2].tobytes()
        chosen = np.array([np.flatnonzero(mask)[-1] for mask in large.masks])
        small.step(chosen[:2])
        large.step(chosen)


CHILD = """
import hashlib
import random
from tests.api.test_vector import step_all
from tonk_env import TonkTables, tonk_v0
from tests.api.steering import play

digest, rng = hashlib.sha256(), random.Random(5)
tables = TonkTables(["pagat", "runout"], [2, 4], num_tables=16, seed=5)
for _ in range(80):
    tables.step(step_all(tables, rng))
    for array in (tables.observations, tables.masks, tables.payments):
        digest.update(array.tobytes())
digest.update(tables.get_state())
env = tonk_v0.env(num_players=3, hands=3)
env.reset(seed=5)
digest.update(repr(play(env, rng)).encode() + env.state().tobytes())
print(digest.hexdigest())
"""


def test_equal_seeds_give_equal_bytes_in_any_process() -> None:
    digests = set()
    for hash_seed in ("0", "1", "random"):
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=Path(__file__).resolve().parents[2],
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1


def test_rules_under_which_every_hand_is_won_on_the_deal_are_refused() -> None:
    every_hand = {"base": "pagat", "instant_wins": {"tiers": [{"at_most": 50}], "tie": "all_paid"}}
    with pytest.raises(TonkError, match="nothing to decide"):
        TonkTables(every_hand, 2, num_tables=2)


def test_a_state_of_other_rules_is_refused() -> None:
    state = TonkTables("seattle", 2, num_tables=4).get_state()
    with pytest.raises(TonkError, match="other rules"):
        TonkTables("pagat", 2, num_tables=4).set_state(state)


def test_a_copy_of_lowered_rules_is_the_same_object() -> None:
    rules = lower("pagat")
    assert copy.deepcopy(rules) is rules
    assert pickle.loads(pickle.dumps(rules)) is rules


def test_an_illegal_choice_is_refused_whatever_the_caller_wrote_into_the_masks() -> None:
    tables = TonkTables("pagat", 2, num_tables=3)
    before = tables.tables.tobytes()
    tables.masks[:] = 1
    with pytest.raises(TonkError, match="not legal"):
        tables.step(np.full(3, tables.num_actions - 1, np.int32))
    assert tables.tables.tobytes() == before
