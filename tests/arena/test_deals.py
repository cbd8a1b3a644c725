from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from arena.deals import MAX_SEED, agent_keys, check_seed, deck_keys, hands_of_block, seatings, start_seed
from tonk_env._jit import mix
from tonk_env.errors import TonkError


def test_decks_are_none_that_training_deals() -> None:
    seeds = (0, 1, 7, 12345)
    arena = {key for seed in seeds for key in deck_keys(seed, 0, 2000).tolist()}
    training = {
        mix(mix(seed, table), hand) for seed in seeds for table in range(50) for hand in range(100)
    }  # as `tonk_env.batch.redeal` keys them
    assert len(arena) == 4 * 2000
    assert not arena & training


def test_keys_are_a_function_of_the_block_alone() -> None:
    for keys in (deck_keys, agent_keys):
        whole = keys(3, 0, 100)
        np.testing.assert_array_equal(whole[40:60], keys(3, 40, 20))
        assert len(set(whole.tolist())) == 100
        assert (whole >= 0).all()
    assert not set(deck_keys(3, 0, 1000).tolist()) & set(agent_keys(3, 0, 1000).tolist())


def test_agents_are_started_with_seeds_of_their_own() -> None:
    assert start_seed(0, "a") == start_seed(0, "a")
    assert len({start_seed(seed, name) for seed in range(3) for name in "ab"}) == 6


@pytest.mark.parametrize(
    ("group", "hands"),
    [((0, 1), 2), ((2, 5, 7), 6), ((0, 0, 1), 3), ((0, 1, 2, 3), 4), ((0, 0, 0, 1, 2, 2), 6)],
)
def test_every_member_sits_everywhere_equally_often_in_every_block(
    group: tuple[int, ...], hands: int
) -> None:
    found = seatings(group, 1, 0, 50)
    assert found.shape == (50, hands, len(group))
    assert hands_of_block(group) == hands
    for block in found:
        for agent in set(group):
            in_seats = (block == agent).sum(0)
            assert (in_seats == group.count(agent) * hands // len(group)).all()


def test_three_seats_play_every_permutation() -> None:
    found = seatings((4, 6, 9), 0, 0, 1)[0]
    assert {tuple(row) for row in found.tolist()} == set(itertools.permutations((4, 6, 9)))


def test_four_seats_play_the_rotations_of_orders_that_change() -> None:
    found = seatings((0, 1, 2, 3), 5, 0, 3000)
    np.testing.assert_array_equal(found[1000:1010], seatings((0, 1, 2, 3), 5, 1000, 10))
    orders: Counter[tuple[int, ...]] = Counter()
    for block in found.tolist():
        first = block[0]
        rotations = {tuple(first[turn:] + first[:turn]) for turn in range(4)}
        assert {tuple(row) for row in block} == rotations
        orders[min(rotations)] += 1
    assert len(orders) == 6  # every order round the table
    assert min(orders.values()) > 400


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_a_seed_out_of_range(seed: int) -> None:
    with pytest.raises(TonkError, match=f"^seed = {seed}: .*needed$"):
        check_seed(seed)
