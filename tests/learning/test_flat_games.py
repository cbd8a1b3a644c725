"""Small games as flat arrays: every node, every information set, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learning.small_games import Forgets, Kuhn, tiny_rules
from tonk_env import Hand
from tonk_env._jit import is_compiled
from tonk_env.cards import CARD_TEXT
from tonk_env.errors import TonkError
from tonk_env.rules import load_rules
from train.cfr.expand import TonkGame, expand
from train.cfr.flat import CHANCE, TERMINAL, FlatGame, flatten
from train.cfr.sequences import Sequences

TWINS = {"deck": {"ranks": "A2", "suits": 1, "packs": 2, "jokers": 1}, "deal": {"hand_size": 1}}


def assert_well_formed(game: FlatGame) -> None:
    nodes = game.nodes
    inner = nodes[nodes["num_children"] > 0]
    children = np.concatenate([
        np.arange(first, first + count)
        for first, count in zip(inner["first_child"], inner["num_children"], strict=True)
    ])  # fmt: skip
    assert sorted(children) == list(range(1, len(nodes))), "every node but the root has one parent"
    assert np.all(inner["first_child"] > np.flatnonzero(nodes["num_children"] > 0)), "parents come first"
    for node in nodes[nodes["seat"] == CHANCE]:
        first = node["first_child"]
        assert nodes["chance"][first : first + node["num_children"]].sum() == pytest.approx(1)
    ends = nodes["index"][nodes["seat"] == TERMINAL]
    assert sorted(ends) == list(range(len(game.payoffs)))
    decisions = nodes[nodes["seat"] >= 0]
    assert np.array_equal(game.sets["seat"][decisions["index"]], decisions["seat"])
    assert np.array_equal(game.sets["num_actions"][decisions["index"]], decisions["num_children"])


def test_kuhn_is_flattened() -> None:
    game = flatten(Kuhn())
    assert (len(game.nodes), len(game.sets), len(game.payoffs), game.num_places) == (55, 12, 30, 24)
    assert_well_formed(game)


@pytest.mark.parametrize(
    ("rules", "nodes", "sets"), [("toy_2s4r", 55_712, 8_880), ("toy_2s4r_long", 547_040, 98_160)]
)
def test_toys_have_the_sizes_of_the_rules_page(rules: str, nodes: int, sets: int) -> None:
    game = expand(rules)
    # The page does not count the root, from which all deals come.
    assert (len(game.nodes) - 1, len(game.sets)) == (nodes, sets)


def walk_along(game: TonkGame) -> dict[str, set[int]]:
    """Plays every node by `Hand`, and checks it; returns the information sets of each log."""
    logs: dict[str, set[int]] = {}
    dealt = game.num_players * game.rules.rules.hand_size(game.num_players) + game.rules.rules.deal.upcard

    def walk(node: int, hand: Hand) -> None:
        found = game.nodes[node]
        labels = game.nodes["label"][found["first_child"] : found["first_child"] + found["num_children"]]
        if found["seat"] == TERMINAL:
            assert hand.ended and list(game.payoffs[found["index"]]) == hand.payments
        elif found["seat"] == CHANCE:
            cards = dict(hand.chance_outcomes())
            chances = game.nodes["chance"][found["first_child"] : found["first_child"] + len(labels)]
            assert cards == pytest.approx(
                {CARD_TEXT[card]: one for card, one in zip(labels, chances, strict=True)}
            )
        else:
            seat = hand.to_move
            assert seat == found["seat"] and hand.legal_actions() == labels.tolist()
            at = game.sets[found["index"]]
            assert at["key"] == hand.view(seat)["log"]
            assert game.actions[at["first"] : at["first"] + at["num_actions"]].tolist() == labels.tolist()
            logs.setdefault(f"{seat} {hand.log(seat)}", set()).add(int(found["index"]))
        for at, label in enumerate(labels.tolist()):
            hand.apply_chance(label) if found["seat"] == CHANCE else hand.apply(label)
            walk(int(found["first_child"]) + at, hand)
            hand.undo()

    for which, deck in enumerate(game.decks.tolist()):
        hand = Hand(game.rules, game.num_players, explicit=True)
        for card in deck[:dealt]:
            hand.apply_chance(card)
        walk(1 + which, hand)
    return logs


@pytest.mark.parametrize("options", [{}, TWINS])
def test_information_sets_are_logs(options: dict[str, object]) -> None:
    game = expand(tiny_rules(**options))
    assert_well_formed(game)
    logs = walk_along(game)
    assert all(len(sets) == 1 for sets in logs.values()), "one log, one information set"
    assert len(logs) == len(game.sets), "one information set, one log"
    Sequences(game)  # whose seats never forget how they came there


def test_decks_of_equal_cards_have_the_right_chances() -> None:
    game = expand(tiny_rules(deck={"ranks": "A2", "suits": 1, "packs": 2}, deal={"hand_size": 1}))
    chances = {
        tuple(deck[:3]): one for deck, one in zip(game.decks.tolist(), game.nodes["chance"][1:7], strict=True)
    }
    ace, two = 0, 1
    assert chances[ace, two, two] == pytest.approx(2 / 4 * 2 / 3 * 1 / 2)
    assert (ace, ace, ace) not in chances and sum(chances.values()) == pytest.approx(1)


def test_views_are_those_of_the_game() -> None:
    game = expand(tiny_rules())
    views, legal, num_legal = game.views(3, 40)
    assert np.array_equal(views["log"], game.sets["key"][3:40])
    assert np.array_equal(views["to_move"], np.zeros(37))
    assert np.array_equal(num_legal, game.sets["num_actions"][3:40])
    start = game.sets["first"][3]
    assert legal[0, : num_legal[0]].tolist() == game.actions[start : start + num_legal[0]].tolist()


def test_three_seats_can_be_expanded() -> None:
    game = expand(tiny_rules(deal={"hand_size": 1}), 3)
    assert game.payoffs.shape[1] == 3
    assert_well_formed(game)


@pytest.mark.parametrize(
    ("rules", "options", "said"),
    [
        ("pagat", {}, "too large to expand: at least [0-9,]+ deals, 32,767 are allowed"),
        ("slap", {}, "slap is in force"),
        ("side_bets", {}, "side_bets.suit is in force"),
        ("toy_2s4r", {"max_nodes": 20_000}, "[0-9,]+ nodes after [0-9]+ of 1,120 deals, 20,000 are allowed"),
    ],
)
def test_what_cannot_be_expanded_is_refused(rules: str, options: dict[str, int], said: str) -> None:
    with pytest.raises(TonkError, match=said) as error:
        expand(load_rules(rules), **options)
    assert "\n" not in str(error.value)


def test_forgetful_games_are_refused() -> None:
    with pytest.raises(TonkError, match="has forgotten how it came there"):
        Sequences(flatten(Forgets()))


@pytest.mark.skipif(not is_compiled(), reason="kernels are not compiled")
def test_kernels_are_compiled_for_one_signature_each() -> None:
    from train.cfr import exact, sampling, sequences
    from train.cfr import expand as expanding

    game = expand(tiny_rules())
    game.views(0, 2)
    solver = exact.Cfr(game, exact.METHODS["dcfr"])
    solver.step()
    solver.sequences.exploitability(solver.average_policy())
    for sampler in sampling.SAMPLERS:
        sampling.SampledCfr(game, sampler, batch=2).step()
    kernels = [
        expanding._walk, expanding._step, expanding._start, sequences._trace, sequences.plan_of,
        sequences.value_of, sequences.best_response, exact.update_seat, exact.normalise, sampling._iterate,
    ]  # fmt: skip
    assert {kernel.__name__: len(kernel.signatures) for kernel in kernels} == {
        kernel.__name__: 1 for kernel in kernels
    }
