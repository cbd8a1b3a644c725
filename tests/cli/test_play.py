"""`tonk play`: a hand as plain lines of text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from agents.random import RandomAgent
from tonk_env._jit import below, mix
from tonk_env.hand import Hand


def first_seat_seed() -> int:
    """A seed with which the player, seat 0, has the first turn and is dealt no instant win."""
    return next(
        seed for seed in range(100) if below(mix(seed, 0), 2) == 1 and Hand(dealer=1, seed=seed).to_move == 0
    )


def test_quit(tonk: Any) -> None:
    for typed in ("q\n", "quit\n", ""):  # or no more input
        said = tonk("play", "--against", "random", "--seed", first_seat_seed(), typed=typed)
        assert said.status == 0
        assert "You left the table; nobody pays." in said.out
        assert "Moves: drop, stock, take" in said.out


def test_drop_at_once(tonk: Any) -> None:
    seed = first_seat_seed()
    said = tonk("play", "--against", "random", "--seed", seed, typed="drop\n")
    hand = Hand(dealer=1, seed=seed)
    hand.apply("drop")
    assert f"Your hand: {' '.join(hand.hands[0])}   count {hand.counts[0]}" in said.out
    assert f"The hand ends: {hand.ending} by you." in said.out
    assert hand.payments is not None
    assert f"count {hand.counts[0]}, paid {hand.payments[0]:+g}" in said.out
    assert f"seat 1 (random): {' '.join(hand.hands[1])}, count {hand.counts[1]}" in said.out


def test_a_wrong_move_is_told_and_asked_again(tonk: Any) -> None:
    said = tonk(
        "play", "--against", "random", "--seed", first_seat_seed(), typed="fold\ndiscard 9c\n\ndrop\n"
    )
    assert "'fold' is not a move: moves are drop, stock, take" in said.out
    assert "'discard 9c' is not legal for seat 0; legal: drop, stock, take" in said.out
    assert "The hand ends:" in said.out


def test_cards_may_be_typed_carelessly(tonk: Any) -> None:
    seed = first_seat_seed()
    hand = Hand(dealer=1, seed=seed)
    hand.apply("stock")
    thrown = next(move for move in hand.legal_moves() if move.startswith("discard"))
    card = thrown.split()[1]
    careless = f"DISCARD  {card.replace('T', '10').swapcase()} "
    said = tonk("play", "--against", "reference", "--seed", seed, typed=f" Stock\n{careless}\nq\n")
    assert re.search(r"> Seat 1 (draws from the stock|takes the top discard|drops)\.", said.out)


@pytest.mark.parametrize("players", [2, 3, 6])
def test_whole_hands(tonk: Any, players: int) -> None:
    """Throws the first card that may be thrown until the hand ends; everybody is paid, to zero."""
    anything = "stock\n" + "".join(f"discard {rank}{suit}\n" for suit in "cdhs" for rank in "KQJT98765432A")
    ended = 0
    for seed in range(6):
        said = tonk("play", "--against", "expert", "--players", players, "--seed", seed, typed=anything * 40)
        assert said.status == 0
        if "The hand ends:" in said.out:
            ended += 1
            paid = re.findall(r", paid ([-+.0-9]+)$", said.out, re.MULTILINE)
            assert len(paid) == players and sum(map(float, paid)) == 0
    assert ended >= 4


@pytest.mark.parametrize("rules", ["slap", "widow", "jokers_wild_25", "chicago"])
def test_whole_hands_under_other_rules(tonk: Any, rules: str) -> None:
    """Answers whatever may be asked; what others put away is not told."""
    anything = "keep\nslap\ntarget 1 0\ntarget 1 0 low\nstock\ntake\ndiscard jk\n"
    anything += "".join(f"discard {rank}{suit}\n" for suit in "cdhs" for rank in "KQJT98765432A")
    ended = 0
    for seed in range(5):
        said = tonk("play", "--against", "random", "--rules", rules, "--seed", seed, typed=anything * 40)
        assert said.status == 0
        assert not re.search(r"Seat 1 swaps [A2-9TJQK]", said.out)
        ended += "The hand ends:" in said.out
    assert ended >= 3


def test_agents_for_each_seat(tonk: Any) -> None:
    said = tonk(
        "play", "--against", "random", "--against", "expert", "--players", 3, "--seed", 1, typed="q\n"
    )
    assert "Seat 1 is random. Seat 2 is expert." in said.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--against", "whist"), "no agent 'whist'"),
        (
            ("--against", "random", "--against", "random"),
            "--against: 2 agents; give one, or one for each of 1 other seats",
        ),
        (("--against", "random", "--seed", "-1"), "--seed -1: 0 to 2**63 - 1 is allowed"),
        (("--against", "random", "--rules", "whist"), "no rules preset 'whist'"),
        (
            ("--against", "random", "--rules", "toy_hits", "--players", "3"),
            "players = 3: these rules are played by 2",
        ),
        ((), "Missing option '--against'"),
    ],
)
def test_refusals(tonk: Any, arguments: tuple[str, ...], says: str) -> None:
    assert tonk("play", *arguments).refusal().startswith(says)


def test_an_agent_that_cheats_is_named(tonk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = next(
        seed for seed in range(100) if Hand(dealer=0, seed=seed).to_move and not below(mix(seed, 0), 2)
    )
    monkeypatch.setattr(RandomAgent, "act", lambda *given: np.array([335], np.int32))
    said = tonk("play", "--against", "random", "--seed", seed)
    assert said.status == 2
    assert said.err.endswith("agent random chose action 335, which is not legal: drop, stock, take\n")
