"""What holds of every hand under any rules: cards kept, payments balanced, equal futures, secrets kept."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tonk_env._jit import fold, is_compiled, mix
from tonk_env.batch import deal_hand
from tonk_env.cards import mask_cards
from tonk_env.engine import legal as legal_module
from tonk_env.engine.deal import chance_outcomes, clear, deal
from tonk_env.engine.ending import forfeit
from tonk_env.engine.legal import can_do, legal_actions, legal_mask
from tonk_env.engine.settle import settle
from tonk_env.engine.state import CHANCE, ENDED, ENDINGS, ILLEGAL, OK, STATE_DTYPE
from tonk_env.engine.turn import apply, apply_chance
from tonk_env.limits import MAX_ACTIONS, MAX_SEATS
from tonk_env.observe import layout, observe
from tonk_env.rules import LoweredRules, load_preset, lower, preset_names
from tonk_env.view import VIEW_DTYPE, view

pytestmark = pytest.mark.uncompiled

PRESETS = sorted(preset_names())


MIXED = [2598789274482403935, 7958443275233290972, 4055804277730848408]
FOLDED = [6129238688627329620, 4229113704986569215, 3883681357708400064]


class Table:
    """One table with scratch space, played by steered random moves."""

    def __init__(self, rules: LoweredRules, num_players: int, key: int, dealer: int = 0) -> None:
        self.rules, self.num_players = rules, num_players
        self.tables = np.zeros(1, STATE_DTYPE)
        self.legal = np.zeros(MAX_ACTIONS, np.int16)
        deal_hand(self.tables, 0, rules.record, 0, num_players, dealer, key)

    @property
    def row(self) -> np.void:
        return self.tables[0]

    def moves(self) -> list[int]:
        found = legal_actions(self.tables, 0, self.rules.record, self.legal)
        return [int(action) for action in self.legal[:found]]

    def step(self, rng: random.Random) -> None:
        moves = self.moves()
        if moves[0] == 0 and len(moves) > 1 and rng.random() > 0.03:
            moves = moves[1:]
        assert apply(self.tables, 0, self.rules.record, rng.choice(moves)) == OK

    def payments(self) -> np.ndarray:
        payments = np.zeros((1, MAX_SEATS))
        settle(self.tables, 0, self.rules.record, payments, 0)
        return payments[0]

    def cards(self) -> list[int]:
        row = self.row
        held = [card for seat in range(MAX_SEATS) for card in mask_cards(row["hands"][seat])]
        laid = [
            card
            for seat in range(MAX_SEATS)
            for place in range(row["num_spreads"][seat])
            for card in mask_cards(row["spread_cards"][seat, place])
        ]
        for at in range(row["num_wilds"]):
            laid.remove(row["wild_as"][at])
            laid.append(int(row["wild_card"][at]))
        aside = [card for card in (*row["widows"].tolist(), *row["put_away"].tolist()) if card >= 0]
        stock = row["deck"][row["next_card"] : row["deck_size"]].tolist()
        return sorted(held + laid + aside + stock + row["pile"][: row["pile_size"]].tolist())


def playable(preset: str, pick: random.Random) -> Table:
    rules = lower(preset)
    players = pick.choice(rules.rules.player_counts())
    return Table(rules, players, pick.getrandbits(62), pick.randrange(players))


@settings(max_examples=30, deadline=None)
@given(preset=st.sampled_from(PRESETS), seed=st.integers(0, 2**32))
def test_cards_are_kept_and_payments_balance(preset: str, seed: int) -> None:
    rng = random.Random(seed)
    table = playable(preset, rng)
    whole = table.cards()
    while table.row["phase"] != ENDED:
        table.step(rng)
        assert table.cards() == whole
        assert bool(table.moves()) == (table.row["phase"] != ENDED)
    assert table.row["ending"] > 0
    if load_preset(preset).rules.scoring == "stakes":
        assert table.payments().sum() == 0
    else:
        assert (table.payments() <= 0).all()


@settings(max_examples=20, deadline=None)
@given(preset=st.sampled_from(PRESETS), seed=st.integers(0, 2**32))
def test_a_restored_table_has_the_same_future(preset: str, seed: int) -> None:
    rng = random.Random(seed)
    table = playable(preset, rng)
    for _ in range(rng.randrange(20)):
        if table.row["phase"] != ENDED:
            table.step(rng)
    saved = table.tables.tobytes()
    futures = []
    for _ in range(2):
        table.tables[:] = np.frombuffer(saved, STATE_DTYPE)
        future = random.Random(seed + 1)
        while table.row["phase"] != ENDED:
            table.step(future)
        futures.append(table.tables.tobytes())
    assert futures[0] == futures[1]


def swap_hidden(table: Table, viewer: int, rng: random.Random) -> None:
    """Deals the cards that `viewer` has not seen anew among the places they can lie in."""
    row = table.row
    places: list[tuple[int, int]] = []  # seat, or -1 for a place in the stock
    pool: list[int] = []
    for seat in range(table.num_players):
        if seat == viewer:
            continue
        known = mask_cards(row["known"][seat])
        for card in mask_cards(row["hands"][seat]):
            if card in known:
                known.remove(card)
            else:
                pool.append(card)
                places.append((seat, card))
    for at in range(int(row["next_card"]), int(row["deck_size"])):
        pool.append(int(row["deck"][at]))
        places.append((-1, at))
    rng.shuffle(pool)
    for seat in range(table.num_players):
        if seat != viewer:
            kept = mask_cards(row["known"][seat])
            kept += [card for card, (owner, _) in zip(pool, places, strict=True) if owner == seat]
            row["hands"][seat] = 0
            for card in kept:
                word = 1 if int(row["hands"][seat, 0]) >> card & 1 else 0
                row["hands"][seat, word] |= 1 << card
            row["counts"][seat] = sum(int(table.rules.record[0]["values"][card]) for card in kept)
    for card, (owner, at) in zip(pool, places, strict=True):
        if owner < 0:
            row["deck"][at] = card


@settings(max_examples=40, deadline=None)
@given(preset=st.sampled_from(PRESETS), seed=st.integers(0, 2**32))
def test_hidden_cards_never_change_what_a_seat_sees(preset: str, seed: int) -> None:
    rng = random.Random(seed)
    table = playable(preset, rng)
    for _ in range(rng.randrange(30)):
        if table.row["phase"] != ENDED:
            table.step(rng)
    if table.row["phase"] == ENDED:
        return
    where = layout(table.rules, table.num_players)

    def seen(viewer: int) -> tuple[bytes, bytes, list[int]]:
        views, vector = np.zeros(1, VIEW_DTYPE), np.zeros((1, where.size), np.float32)
        view(table.tables, 0, viewer, views, 0)
        observe(views, 0, table.rules.record, where.starts, vector, 0)
        return views.tobytes(), vector.tobytes(), table.moves() if table.row["seat"] == viewer else []

    saved = table.tables.copy()
    for viewer in range(table.num_players):
        before = seen(viewer)
        swap_hidden(table, viewer, rng)
        assert seen(viewer) == before
        table.tables[:] = saved


def test_swapping_hidden_cards_does_change_the_other_hand() -> None:
    table = Table(lower("pagat"), 2, key=5)
    before = table.row["hands"].copy()
    swap_hidden(table, 0, random.Random(1))
    assert (table.row["hands"][0] == before[0]).all() and (table.row["hands"][1] != before[1]).any()


def test_masks_and_lists_agree_and_ended_tables_have_no_moves() -> None:
    rng = random.Random(3)
    table = Table(lower("pagat"), 3, key=11)
    masks = np.ones((1, table.rules.num_actions), np.uint8)
    while table.row["phase"] != ENDED:
        legal_mask(table.tables, 0, table.rules.record, table.legal, masks, 0)
        assert np.flatnonzero(masks[0]).tolist() == table.moves()
        for action in range(table.rules.num_actions):
            assert can_do(table.tables, 0, table.rules.record, action) == bool(masks[0, action])
        table.step(rng)
    assert legal_mask(table.tables, 0, table.rules.record, table.legal, masks, 0) == 0
    assert not masks.any()


def test_forfeit_pays_every_other_player() -> None:
    table = Table(lower("pagat"), 3, key=1)
    forfeit(table.tables, 0, 1)
    assert ENDINGS[table.row["ending"]] == "forfeit"
    assert table.payments()[:3].tolist() == [2, -4, 2]
    forfeit(table.tables, 0, 2)
    assert table.payments()[:3].tolist() == [2, -4, 2]


def test_forfeit_under_push_ups_adds_the_offenders_count() -> None:
    table = Table(lower("push_ups"), 3, key=1)
    forfeit(table.tables, 0, 1)
    assert table.payments()[:3].tolist() == [0, -int(table.row["counts"][1]), 0]


def test_chance_nodes_list_what_is_left() -> None:
    rules = lower("toy_2s4r")
    tables = np.zeros(1, STATE_DTYPE)
    clear(tables, 0, 0, 2, 1)
    tables[0]["deck"][:8] = rules.record[0]["types"][:8]
    tables[0]["deck_size"] = 8
    tables[0]["explicit"] = 1
    deal(tables, 0, rules.record)
    outcomes = np.zeros(53, np.int64)
    for left in range(8, 1, -1):
        assert tables[0]["phase"] == CHANCE
        assert chance_outcomes(tables, 0, outcomes) == left == outcomes.sum()
        assert apply_chance(tables, 0, rules.record, 51) == ILLEGAL
        assert apply_chance(tables, 0, rules.record, int(np.flatnonzero(outcomes)[-1])) == OK
    assert tables[0]["phase"] != CHANCE
    assert apply_chance(tables, 0, rules.record, 0) == ILLEGAL


def test_random_words_are_the_same_compiled_or_not() -> None:
    assert [mix(0, 0), mix(1, 0), mix(2**62, 12345)] == MIXED
    assert [fold(0, 0), fold(1, -1), fold(2**62, 12345)] == FOLDED


# A process of its own: other tests call kernels with odd arrays on purpose.
ONE_COMPILE = """
import importlib, pkgutil
import numpy as np
import tonk_env.engine
from agents.registry import make
from arena.play import play_hands
from tonk_env import Hand, TonkTables
from tonk_env.rules import lower, preset_names

tables = TonkTables(preset_names(), 2, num_tables=64, seed=1)
for _ in range(30):
    tables.step(tables.masks.shape[1] - 1 - tables.masks[:, ::-1].argmax(axis=1))
for preset in ("pagat", "seven_card", "push_ups"):
    for players in (2, 3, 5):
        hand = Hand(preset, players, dealer=0, seed=7)
        while not hand.ended:
            hand.apply(hand.legal_actions()[-1])
        agents = [make("reference"), make("random")]
        for agent in agents:
            agent.start(lower(preset), players, 0)
        keys = np.arange(20)
        play_hands(agents, np.tile(np.arange(players) % 2, (20, 1)), lower(preset), keys, keys, keys * 0)
names = [module.name for module in pkgutil.iter_modules(tonk_env.engine.__path__)]
modules = [importlib.import_module(f"tonk_env.engine.{name}") for name in names]
modules += [importlib.import_module(f"tonk_env.{name}") for name in ("view", "observe", "batch")]
counts = {
    f"{module.__name__}.{name}": len(kernel.signatures)
    for module in modules
    for name, kernel in vars(module).items()
    if hasattr(kernel, "signatures") and kernel.py_func.__module__ == module.__name__
}
print(sum(counts.values()), [name for name, count in counts.items() if count > 1])
"""


@pytest.mark.skipif(not is_compiled(), reason="kernels are not compiled")
def test_each_kernel_has_one_specialisation() -> None:
    """Playing every preset and other table sizes, by every way in, compiles nothing anew."""
    # Twice: the first run may compile. Kernels called by kernels come with these, by types of their own, and
    # are not counted where they are read from the cache.
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", ONE_COMPILE], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
    compiled, _, several = done.stdout.partition(" ")
    assert int(compiled) >= 5 and several.strip() == "[]"


@pytest.mark.boundscheck
@pytest.mark.skipif(not is_compiled(), reason="kernels are not compiled")
def test_bounds_are_checked_where_asked_for() -> None:
    """The canary: without it a bounds-checked run could pass because nothing is checked."""
    import numba

    table = Table(lower("pagat"), 2, key=1)
    if numba.config.BOUNDSCHECK:
        with pytest.raises(IndexError):
            legal_module.legal_actions(table.tables, 1, table.rules.record, table.legal)
    else:
        assert table.moves()
