"""The PettingZoo environment keeps PettingZoo's contract and the game's."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

from tests.api.steering import choose, play
from tonk_env import TonkError, tonk_v0
from tonk_env.cards import CARD_TEXT, mask_cards
from tonk_env.rules import lower, preset_names
from tonk_env.table_text import legal_text
from tonk_env.tonk_v0 import raw_env

SEATS = range(2, 7)
CASES = [
    *(("pagat", seats) for seats in SEATS),
    *((preset, lower(preset).rules.player_counts()[0]) for preset in preset_names() if preset != "pagat"),
    ("washington_state", 6),
]
PLAIN = {"base": "pagat", "instant_wins": {"tiers": []}}
VARIANTS: dict[str, tuple[dict[str, Any], int]] = {
    "slap": ({"slap": True, "deck": {"ranks": "A2345678"}, "deal": {"hand_size": 7}}, 4),
    "slap of two packs": ({"slap": True, "deck": {"ranks": "A23456", "packs": 2}}, 2),
    "widow": ({"deal": {"widow": True}}, 3),
    "jokers wild": ({"deck": {"jokers": 4}}, 2),
    "wild ranks": ({"deck": {"packs": "auto", "jokers": 1, "wild_ranks": "27"}}, 5),
    "side bets": ({"side_bets": {"suit": 1, "naturals": 2}, "match": {"hands": 3}}, 6),
    "must_spread": ({"spreads": {"must_spread": "yes"}}, 3),
    "lock": ({"spreads": {"lock_after": 1}, "deal": {"hand_size": 7}}, 4),
    "stock_floor": ({"going_out": {"stock_floor": "players"}, "deck": {"ranks": "A23456"}}, 4),
    "push_ups": ({"scoring": "push_ups", "match": {"target": 50}}, 3),
    "several hands": ({"match": {"hands": 3, "last_hands_double": 1, "first_dealer": 4}}, 6),
}
OFTEN_WON = {"base": "pagat", "instant_wins": {"tiers": [{"at_most": 35}]}}
"""Two hands in three are won on the deal."""


def first_actions(env: Any, steps: int, rng: random.Random) -> list[Any]:
    """What an environment shows over some steps."""
    seen: list[Any] = []
    for agent in env.agent_iter(steps):
        observation, reward, terminated, truncated, info = env.last()
        seen.append(
            (agent, observation["observation"].tobytes(), observation["action_mask"].tobytes(), reward)
        )
        over = terminated or truncated
        env.step(None if over else choose(info["action_mask"], env.unwrapped.rules, rng))
        if not env.agents:
            env.reset()
    return seen


@pytest.mark.parametrize(
    ("rules", "seats"),
    [
        *CASES,
        *(
            pytest.param({**PLAIN, **rules}, seats, id=f"{name}-{seats}")
            for name, (rules, seats) in VARIANTS.items()
        ),
    ],
)
def test_pettingzoo_checks(rules: Any, seats: int) -> None:
    def make(render_mode: str | None = None) -> Any:
        return tonk_v0.env(rules, num_players=seats, render_mode=render_mode)

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        # The checker prefers bare arrays, and knows masks as part of an observation only by names of its own.
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably should be")
        # Terminated agents have nothing to do.
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        api_test(make(), num_cycles=300)
        seed_test(make, num_cycles=50)
        render_test(make)
        env = make()
        check_state_space(env.unwrapped)
        # The checker plays without masks.
        for seed in range(3):
            env.reset(seed=seed)
            play(env, random.Random(seed))
            assert env.state_space.contains(env.state())


@pytest.mark.parametrize("hands", [1, 3])
def test_pettingzoo_checks_where_hands_are_often_won_on_the_deal(hands: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        api_test(tonk_v0.env(OFTEN_WON, hands=hands), num_cycles=300)
        seed_test(lambda: tonk_v0.env(OFTEN_WON, hands=hands), num_cycles=100)


def test_state_checker() -> None:
    class OnlyLegal(pettingzoo.utils.BaseWrapper):  # type: ignore[misc]
        """Makes the checker's blind choices legal."""

        def step(self, action: Any) -> None:
            mask = self.env.infos[self.env.agent_selection]["action_mask"]
            super().step(None if action is None else int(mask.argmax()))

        @property
        def state_space(self) -> Any:
            return self.env.state_space

    check_state(OnlyLegal(raw_env(num_players=4, hands=3)), 100)


def test_registry() -> None:
    env = pettingzoo.make("aec", "tonk/tonk_v0", rules="seattle", num_players=3, hands=2, max_cycles=5)
    env.reset(seed=1)
    inner = env.unwrapped
    assert isinstance(inner, raw_env)
    assert (inner.num_players, inner.hands, inner.max_cycles) == (3, 2, 5)
    assert inner.rules is lower("seattle")
    assert str(env) == "tonk_v0"


def test_env_only_enforces_order() -> None:
    env = tonk_v0.env()
    assert type(env).__name__ == "OrderEnforcingWrapper"
    assert type(env.env) is raw_env
    with pytest.raises(AttributeError):
        _ = env.agent_selection
    with pytest.raises(TonkError, match="reset"):
        raw_env().step(0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"num_players": 9}, "players = 9"),
        ({"num_players": 1}, "players = 1"),
        ({"rules": "whist"}, "whist"),
        ({"rules": {"base": "pagat", "trumps": True}}, "trumps"),
        ({"hands": 0}, "hands = 0"),
        ({"render_mode": "rgb_array"}, "rgb_array"),
        ({"render_seat": 2}, "render_seat = 2"),
        ({"max_cycles": 0}, "max_cycles = 0"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(TonkError, match=named) as caught:
        tonk_v0.env(**arguments)
    assert "\n" not in str(caught.value)


def test_bad_seed() -> None:
    with pytest.raises(TonkError, match="seed = -1"):
        tonk_v0.env().reset(seed=-1)


@pytest.mark.boundscheck
@pytest.mark.uncompiled
@pytest.mark.parametrize("seats", SEATS)
def test_masks_observations_and_infos(seats: int) -> None:
    """Only the agent to move has a mask, the same in its info; nothing is offered once all is over."""
    env = raw_env(num_players=seats, hands=2)
    rng = random.Random(seats)
    for seed in range(3):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, over, _, info = env.last()
            assert observation is not None
            assert info["action_mask"] is observation["action_mask"] or over
            for other in env.agents:
                seen = env.observe(other)
                assert env.observation_space(other).contains(seen)
                assert seen["action_mask"].dtype == np.int8
                assert seen["action_mask"].any() == (other == agent and not over)
                assert np.array_equal(env.infos[other]["action_mask"], seen["action_mask"])
            assert env.state_space.contains(env.state())
            env.step(None if over else choose(info["action_mask"], env.rules, rng))


@pytest.mark.boundscheck
@pytest.mark.parametrize("seats", SEATS)
@pytest.mark.parametrize("hands", [1, 4])
def test_payments_reach_every_seat(seats: int, hands: int) -> None:
    env = tonk_v0.env(num_players=seats, hands=hands)
    rng = random.Random(seats)
    paid = 0
    for seed in range(20):
        env.reset(seed=seed)
        assert set(env.agents) == {f"player_{seat}" for seat in range(seats)}
        sums = play(env, rng)
        assert len(sums) == seats
        assert sum(sums.values()) == pytest.approx(0)
        paid += any(sums.values())
    assert paid > 5


def test_every_agent_is_told_how_the_hand_ended() -> None:
    env = raw_env(num_players=4)
    env.reset(seed=3)
    rng = random.Random(3)
    while not all(env.terminations.values()):
        assert not any(env.terminations.values())
        env.step(choose(env.infos[env.agent_selection]["action_mask"], env.rules, rng))
    told = []
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        assert terminated
        assert not truncated
        assert reward == info["payments"][env.possible_agents.index(agent)]
        told.append((info["ending"], tuple(info["payments"])))
        env.step(None)
    assert len(told) == 4
    assert len(set(told)) == 1


def test_dealer_moves_left_between_hands() -> None:
    env = raw_env(num_players=3, hands=6)
    env.reset(seed=5)
    dealers = [int(env._tables["dealer"][0])]
    rng = random.Random(5)
    hand = env._match.number
    for _ in env.agent_iter():
        _, _, terminated, _, info = env.last()
        env.step(None if terminated else choose(info["action_mask"], env.rules, rng))
        if env._match.number not in (hand, 6):
            dealers += [(dealers[-1] + env._match.number - hand) % 3]
            hand = env._match.number
            assert int(env._tables["dealer"][0]) == dealers[-1]
            assert env.agent_selection == f"player_{(dealers[-1] + 1) % 3}"
    assert len(set(dealers)) == 3


def test_rewards_of_a_match_are_those_of_its_hands() -> None:
    """Hands won on the deal count and pay, wherever they come."""
    env = raw_env(OFTEN_WON, num_players=3, hands=5)
    rng = random.Random(0)
    won_first = 0
    for seed in range(40):
        env.reset(seed=seed)
        won_first += env._match.number > 0
        assert not any(env.rewards.values())
        told: dict[str, list[float]] = {}
        totals = np.zeros(3)
        booked = env._book

        def book(paid: list[float], totals: Any = totals, booked: Callable[..., None] = booked) -> None:
            booked(paid)
            totals += env._payments[0, :3]

        before = env._due or [0.0] * 3
        env._book = book  # type: ignore[method-assign]
        sums = play(env, rng)
        del env._book
        assert list(sums.values()) == pytest.approx((totals + before).tolist()), told
        assert env._match.is_over
    assert won_first > 10


def test_a_single_hand_won_on_the_deal() -> None:
    """It is dealt again, or is an episode without a decision where one allows that."""
    env, empty = raw_env(OFTEN_WON), raw_env(OFTEN_WON, allow_empty=True)
    ended = 0
    for seed in range(40):
        env.reset(seed=seed)
        assert not any(env.terminations.values())
        assert env.infos[env.agent_selection]["action_mask"].any()
        empty.reset(seed=seed)
        if all(empty.terminations.values()):
            ended += 1
            payments = []
            for agent in empty.agent_iter():
                observation, reward, terminated, _, info = empty.last()
                assert terminated
                assert observation is not None
                assert not observation["action_mask"].any()
                assert info["ending"] in ("instant_win", "void")
                assert reward == info["payments"][empty.possible_agents.index(agent)]
                payments.append(reward)
                empty.step(None)
            assert sum(payments) == 0
        else:
            assert empty.state().tobytes() == env.state().tobytes()
    assert 20 < ended < 36


def test_rules_that_leave_nothing_to_decide() -> None:
    env = raw_env({"base": "pagat", "instant_wins": {"tiers": [{"at_most": 50}]}})
    with pytest.raises(TonkError, match="won on the deal"):
        env.reset(seed=0)


@pytest.mark.parametrize("bad", [335, 1_000_000, -1, 2**80, None, 1.5, "drop", np.int64(300)])
def test_an_illegal_move_names_the_legal_ones_and_changes_nothing(bad: Any) -> None:
    env = tonk_v0.env()
    env.reset(seed=2)
    before, bytes_before = env.state(), env.unwrapped._tables.tobytes()
    with pytest.raises(
        TonkError, match=r"player_\d: action .* is not legal; legal are 0 drop, 1 stock, 2 take$"
    ):
        env.step(bad)
    assert env.state().tobytes() == before.tobytes()
    assert env.unwrapped._tables.tobytes() == bytes_before
    env.step(np.int32(1))
    assert "discard" in legal_text(env.unwrapped._tables, env.unwrapped.rules)


def test_dead_agents_take_no_action() -> None:
    env = raw_env()
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(ValueError, match="None"):
        env.step(0)


@pytest.mark.parametrize("cycles", [1, 7])
def test_max_cycles_truncates(cycles: int) -> None:
    env = tonk_v0.env(max_cycles=cycles, hands=50)
    env.reset(seed=4)
    decisions, rng = 0, random.Random(1)
    for _ in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        assert not terminated
        assert not reward
        assert truncated == (decisions == cycles)
        assert info["action_mask"].any() != truncated
        decisions += not truncated
        env.step(None if truncated else choose(info["action_mask"], env.unwrapped.rules, rng, drop=0))
    assert decisions == cycles


def test_seeds_and_streams() -> None:
    """A seed fixes all hands that follow; a reset without one goes on; rules stay as they were."""
    one, two = raw_env("seattle", num_players=3), raw_env("seattle", num_players=3)
    one.reset(seed=11)
    two.reset(seed=12)
    assert one.state().tobytes() != two.state().tobytes()
    two.reset(seed=11)
    rng = random.Random(0)
    hands = []
    for _ in range(5):
        assert one.state().tobytes() == two.state().tobytes()
        hands.append(one.state().tobytes())
        state = rng.getstate()
        play(one, rng)
        rng.setstate(state)
        play(two, rng)
        one.reset()
        two.reset()
        assert one.rules is lower("seattle")
        assert one._tables["num_cards"][0, :3].tolist() == [7, 7, 7]
    assert len(set(hands)) == 5
    one.reset(seed=11)
    assert one.state().tobytes() == hands[0]
    one.reset()
    assert one.state().tobytes() == hands[1]
    unseeded = raw_env(), raw_env()
    for env in unseeded:
        env.reset()
    assert unseeded[0].state().tobytes() != unseeded[1].state().tobytes()


def test_first_dealer_varies_with_the_seed() -> None:
    env = raw_env(num_players=4)
    dealers = set()
    for seed in range(40):
        env.reset(seed=seed)
        dealers.add(int(env._tables["dealer"][0]))
    assert dealers == {0, 1, 2, 3}


@pytest.mark.parametrize("twin", [copy.deepcopy, copy.copy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("wrapped", [False, True])
def test_copies_have_equal_futures_and_share_nothing(twin: Callable[[Any], Any], wrapped: bool) -> None:
    if wrapped and twin is copy.copy:
        pytest.skip("PettingZoo's wrapper is copied without what it wraps")
    env = tonk_v0.env(num_players=3, hands=2) if wrapped else raw_env(num_players=3, hands=2)
    env.reset(seed=9)
    first_actions(env, 13, random.Random(0))
    spare, other = twin(env), twin(env)
    before = env.state().tobytes()
    shown = first_actions(other, 400, random.Random(1))
    assert env.state().tobytes() == before
    assert first_actions(env, 400, random.Random(1)) == shown
    assert first_actions(spare, 400, random.Random(1)) == shown
    assert spare.unwrapped.rules is env.unwrapped.rules


def test_what_was_shown_stays_as_it_was() -> None:
    env = raw_env()
    env.reset(seed=0)
    kept = []
    rng = random.Random(0)
    for _ in env.agent_iter():
        observation, _, over, _, info = env.last()
        assert observation is not None
        kept.append((observation, {name: value.copy() for name, value in observation.items()}))
        env.step(None if over else choose(info["action_mask"], env.rules, rng))
    for observation, copied in kept:
        assert all(np.array_equal(observation[name], copied[name]) for name in copied)


def shuffle_hidden(env: raw_env, viewer: int, rng: random.Random) -> bool:
    """Deals anew the cards that a seat can't know; says whether that changed anything."""
    table = env._tables[0]
    others = [seat for seat in range(env.num_players) if seat != viewer]
    hidden = table["deck"][table["next_card"] : table["deck_size"]].tolist()
    unknown = {}
    for seat in others:
        cards = mask_cards(table["hands"][seat])
        for card in mask_cards(table["known"][seat]):
            cards.remove(card)
        unknown[seat] = len(cards)
        hidden += cards
    before = env._tables.tobytes()
    rng.shuffle(hidden)
    values = env.rules.record[0]["values"]
    for seat in others:
        cards = mask_cards(table["known"][seat]) + [hidden.pop() for _ in range(unknown[seat])]
        low = sum(1 << card for card in set(cards))
        table["hands"][seat] = low, sum(1 << card for card in set(cards) if cards.count(card) > 1)
        table["counts"][seat] = sum(int(values[card]) for card in cards)
    table["deck"][table["next_card"] : table["deck_size"]] = hidden
    return env._tables.tobytes() != before


@pytest.mark.parametrize("seats", SEATS)
def test_hidden_cards_never_show(seats: int) -> None:
    """What any agent observes, and may do, is the same whatever the cards it can't know."""
    env = raw_env("runout", num_players=seats)
    rng, changed, checked = random.Random(seats), 0, 0
    for seed in range(4):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, over, _, info = env.last()
            assert observation is not None
            for viewer, name in enumerate(env.possible_agents):
                world = copy.deepcopy(env)
                seen = env.observe(name)["observation"]
                changed += shuffle_hidden(world, viewer, rng)
                checked += 1
                assert world._observation(viewer).tobytes() == seen.tobytes()
                if name == agent and not over:
                    world._show_mover()
                    assert np.array_equal(world.observe(name)["action_mask"], info["action_mask"])
            env.step(None if over else choose(info["action_mask"], env.rules, rng))
            if over:
                break
    assert changed > 0.9 * checked > 50


def test_state_tells_everything_once() -> None:
    """Each part of the state is where `state` says it is."""
    env = raw_env(num_players=3)
    env.reset(seed=6)
    size = env._size
    state = env.state()
    for seat, agent in enumerate(env.possible_agents):
        assert np.array_equal(state[seat * size : (seat + 1) * size], env.observe(agent)["observation"])
    mover = state[3 * size : 3 * size + 3]
    assert mover.sum() == 1
    assert mover[int(env.agent_selection[-1])] == 1
    table = env._tables[0]
    stock = table["deck"][table["next_card"] : table["deck_size"]]
    assert np.allclose(state[3 * size + 3 :][: len(stock)] * 52, stock + 1)
    assert not state[3 * size + 3 + len(stock) :].any()


def test_spectators_see_all_and_seats_their_own() -> None:
    whole, own = raw_env(render_mode="ansi"), raw_env(render_mode="ansi", render_seat=0)
    for env in (whole, own):
        env.reset(seed=8)
    hands = [mask_cards(whole._tables["hands"][0, seat]) for seat in range(2)]
    texts = [" ".join(CARD_TEXT[card] for card in hand) for hand in hands]
    shown, hidden = whole.render(), own.render()
    assert shown is not None
    assert hidden is not None
    assert all(text in shown for text in texts)
    assert texts[0] in hidden
    assert texts[1] not in hidden
    assert "5 cards" in hidden
    assert "0 drop, 1 stock, 2 take" in shown
    whole.step(0)
    shown = whole.render()
    assert shown is not None
    assert "of player_" in shown.splitlines()[-1]


def test_human_mode_prints_after_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    env = tonk_v0.env(render_mode="human")
    env.reset(seed=8)
    first = capsys.readouterr().out
    assert "legal" not in first
    assert "0 drop" in first
    env.step(1)
    assert "discard" in capsys.readouterr().out


def test_render_without_a_mode_warns() -> None:
    env = tonk_v0.env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
