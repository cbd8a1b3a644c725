"""Hand records round-trip, and what is wrong with one is said in one line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from tonk_env.cards import CARD_TEXT, card_id, parse_cards
from tonk_env.errors import TonkError
from tonk_env.hand import Hand
from tonk_env.notation import format_record, parse_record
from tonk_env.rules import load_rules, preset_names

slow = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

OPTIONS: dict[str, list[Any]] = {
    "deck.ranks": ["A23456789TJQK", "A234567JQK", "A23456789"],
    "deck.packs": [1, 2, "auto"],
    "deck.values": [{}, {"K": 13, "A": 0}],
    "deal.hand_size": [3, 5, 7, {"2": 5, "3": 4, "5": 3}],
    "deal.upcard": [True, False],
    "spreads.ace": ["low", "low_or_high", "wrap"],
    "instant_wins.tiers": [[], [{"at_most": 12, "pays": 2, "lowest_first": True}, {"all_ranks": "79"}]],
    "drop.max_count": [20],
    "drop.pays": [1, 1.5],
    "drop.caught": ["pagat", "washington", {"lowest": 0.1, "lowest_tie": "nearest_left"}],
    "waiting.after_spread": [0, 2],
    "waiting.cumulative": [True, False],
    "going_out.no_earlier_spread": [2],
    "stock_out.result": ["lowest_wins", "void", "must_drop"],
    "scoring": ["stakes", "push_ups"],
    "discard_taken": [False, True],
    "turn_limit": [2, 50],
}


@st.composite
def own_rules(draw: st.DrawFn) -> dict[str, Any]:
    """A table of options, as in a preset file."""
    table: dict[str, Any] = {"base": "pagat", "instant_wins": {"tiers": []}}
    for option in draw(st.lists(st.sampled_from(sorted(OPTIONS)), unique=True, max_size=5)):
        section, dot, name = option.partition(".")
        value = draw(st.sampled_from(OPTIONS[option]))
        if dot:
            table.setdefault(section, {})[name] = value
        else:
            table[section] = value
    try:
        load_rules(table)
    except TonkError:  # a tier of ranks that the deck has too few of
        reject()
    return table


@st.composite
def hands(draw: st.DrawFn) -> Hand:
    """A hand somewhere in its course, or at its end."""
    rules = draw(st.sampled_from(preset_names()) | own_rules())
    allowed = load_rules(rules).player_counts()
    num_players = draw(st.sampled_from(allowed))
    dealer = draw(st.integers(0, num_players - 1))
    hand = Hand(rules, num_players, dealer=dealer, seed=draw(st.integers(0, 2**63 - 1)))
    for choice in draw(st.lists(st.integers(0, 10**6), max_size=60)):
        if hand.ended:
            break
        moves = hand.legal_actions()
        # Drops are rare, and spreads and hits preferred half the time: hands then run and reach something.
        melds = [action for action in moves if hand.action_text(action).startswith(("spread", "hit"))]
        if melds and choice % 2:
            moves = melds
        elif len(moves) > 1 and hand.action_text(moves[0]) == "drop" and choice % 50:
            moves = moves[1:]
        hand.apply(moves[choice // 2 % len(moves)])
    if not hand.ended and draw(st.integers(0, 9)) == 0:
        hand.forfeit(draw(st.integers(0, num_players - 1)))
    return hand


def state(hand: Hand) -> tuple[Any, ...]:
    # A record holds the orders of the slaps that were asked, not what those to come are drawn by.
    tables = hand.clone()._tables
    tables["lots"] = 0
    return (
        hand.rules.fingerprint,
        hand.dealer,
        tables.tobytes(),
        hand.events,
        hand.ending,
        hand.payments,
    )


@slow
@given(hands())
def test_written_and_read_again_it_is_the_same_hand(hand: Hand) -> None:
    text = hand.to_record()
    record = parse_record(text)
    assert state(record.hand) == state(hand)
    assert record.disagreement() is None
    assert (record.stated is not None) == hand.ended
    assert format_record(record.hand) == text


@slow
@given(hands())
def test_the_way_back_is_the_way_there(hand: Hand) -> None:
    """Undoing every move and making them again leads to the same hand."""
    end, events = state(hand), hand.events
    for _ in events:
        hand.undo()
    assert hand.num_moves == 0
    for event in events:
        if event.move == "forfeit":
            hand.forfeit(event.seat)
        else:
            assert hand.to_move == event.seat
            hand.apply(event.move)
    assert state(hand) == end


@slow
@given(hands(), st.randoms(use_true_random=False))
def test_log_and_view_do_not_depend_on_hidden_cards(hand: Hand, random: Any) -> None:
    """Cards that a seat has not seen may lie in any order: its log and its views stay the same."""
    if hand.ended or hand.num_moves == 0:
        return
    viewer = random.randrange(hand.num_players)
    twin = shuffle_hidden(hand, viewer, random)
    if twin is None:
        return
    assert twin.log(viewer) == hand.log(viewer)
    assert twin.view(viewer).tobytes() == hand.view(viewer).tobytes()


def shuffle_hidden(hand: Hand, viewer: int, random: Any) -> Hand | None:
    """A hand whose unseen cards are others, with the same moves; None where a move no longer goes."""
    start = hand.clone()
    for _ in hand.events:
        start.undo()
    table = start._tables[0]
    deck = table["deck"][: table["deck_size"]].tolist()
    n, size = hand.num_players, start.rules.rules.hand_size(hand.num_players)
    order = {at: (hand.dealer + 1 + at) % n for at in range(n * size)}
    widows = n * start.rules.rules.deal.widow
    swaps = {event.seat: card_id(event.move[5:]) for event in hand.events if event.move.startswith("swap")}
    for at in range(n * size, n * size + widows):
        if (hand.dealer + 1 + at) % n in swaps:
            order[at] = (hand.dealer + 1 + at) % n
    at = n * size + widows + start.rules.rules.deal.upcard
    for event in hand.events:
        if event.move == "stock":
            order[at] = event.seat
            at += 1
    # What another seat put away is not shown; in the twin it puts away what lies in that place then.
    put_away = {
        seat: next(at for at in range(n * size) if order[at] == seat and deck[at] == card)
        for seat, card in swaps.items()
        if seat != viewer
    }
    shown = {
        card
        for event in hand.events
        if event.seat == viewer or not event.move.startswith("swap")
        for card in named(event.move)
    }
    upcards = [n * size + widows] if start.rules.rules.deal.upcard else []
    hidden = [
        at
        for at in range(len(deck))
        if at not in upcards and order.get(at) != viewer and deck[at] not in shown
    ]
    cards = [deck[at] for at in hidden]
    random.shuffle(cards)
    for at, card in zip(hidden, cards, strict=True):
        deck[at] = card
    chance = {"slap_orders": hand.slap_orders, "called_suit": hand.called_suit}
    twin = Hand(hand.rules, n, dealer=hand.dealer, deck=deck, **chance)
    for event in hand.events:
        move = event.move
        if move.startswith("swap") and event.seat != viewer:
            move = f"swap {CARD_TEXT[deck[put_away[event.seat]]]}"
        if twin.to_move != event.seat or move not in twin.legal_moves():
            return None
        twin.apply(move)
    return None if twin.ended else twin


def named(move: str) -> list[int]:
    kind, _, cards = move.partition(" ")
    bare = cards.replace("[", "").replace("]", "")
    return parse_cards(bare) if kind in ("spread", "hit", "discard", "swap") else []


GOOD = """
format = "tonk-hand/1"
rules = "pagat"
players = 2
dealer = 1
hands = ["2c 3c 8h Kd Kh", "9s 9h 7d 5c Ac"]
upcard = "Ks"
stock = "4d"
actions = ["0 take", "0 spread KdKhKs", "0 discard 8h", "1 stock", "1 discard 9h", "0 drop"]
[result]
ending = "drop"
payments = [1.0, -1.0]
"""


def test_the_good_record_is_good() -> None:
    assert parse_record(GOOD).disagreement() is None


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("format", "fromat", "fromat: not a key of a hand record, whose keys are format, rules, players"),
        ("format =", "kitty = []\nformat =", "kitty: not a key of a hand record"),
        ("tonk-hand/1", "tonk-hand/9", 'format = "tonk-hand/9": only "tonk-hand/1" is known'),
        ('rules = "pagat"', "", "rules: missing"),
        ('"pagat"', '"pagt"', "rules: no rules preset 'pagt' (did you mean pagat?)"),
        ('rules = "pagat"', "rules = 7", "rules = 7: the name of a preset, or a table of options"),
        (
            'rules = "pagat"',
            'rules = {base = "pagat", drop = {allowd = true}}',
            "rules: drop.allowd: no such option",
        ),
        ("players = 2", "players = 9", "players = 9: a whole number from 2 to 6"),
        ("players = 2", "players = true", "players = true: a whole number from 2 to 6"),
        ("players = 2", "players = 3", "hands: 2 of them, but players = 3"),
        ('"pagat"\nplayers = 2', '"toy_hits"\nplayers = 3', "players = 3: these rules are played by 2"),
        ("dealer = 1", "dealer = 2", "dealer = 2: a whole number from 0 to 1"),
        ("2c 3c 8h Kd Kh", "2c 3c 8h Kd", "hands[0]: 4 cards, but these rules deal 5 to each of 2"),
        ("2c 3c 8h Kd Kh", "2c 3c 8h Kd Kz", "hands[0]: 'Kz' is not a card"),
        (
            "9s 9h 7d 5c Ac",
            "9s 9h 7d 5c 2c",
            "hands[1]: 2c is dealt more often (hands[0], hands[1]) than the deck holds it (1)",
        ),
        ('"4d"', '"4d Ks"', "stock: Ks is dealt more often (upcard, stock) than the deck holds it (1)"),
        ('"4d"', '"Jk"', "stock: Jk is not in the deck of these rules"),
        ('"4d"', "[4]", "stock = [4]: a text of cards"),
        ('upcard = "Ks"\n', "", "upcard: 0 cards, but these rules deal one card"),
        ('"Ks"', '"Ks Qs"', "upcard: 2 cards, but these rules deal one card"),
        (
            'rules = "pagat"',
            'rules = "no_upcard"',
            "upcard: 1 cards, but these rules deal none; leave the key out",
        ),
        ('"0 take"', "7", "actions = [7, "),
        (
            '"0 take"',
            '"0 tke"',
            "move 1, \"0 tke\": 'tke' is not a move: moves are drop, stock, take, spread CARDS, hit CARD, "
            "discard CARD, target SEAT INDEX; legal: 0 drop, 0 stock, 0 take",
        ),
        ('"0 take"', '"take"', 'move 1, "take": a move is a seat (0 to 1), then one of drop'),
        ('"0 take"', '"2 take"', 'move 1, "2 take": a move is a seat (0 to 1), then one of drop'),
        ('"0 take"', '"1 take"', 'move 1, "1 take": seat 0 is to move; legal: 0 drop, 0 stock, 0 take'),
        (
            '"1 discard 9h"',
            '"1 discard 9c"',
            'move 5, "1 discard 9c": not legal; legal: 1 discard Ac, 1 discard 5c',
        ),
        (
            '"0 drop"',
            '"0 drop", "1 stock"',
            'move 7, "1 stock": the hand ended by drop at move 6, no move is legal',
        ),
        ("ending =", "endign =", "result.endign: no such key: a table with the keys ending and payments"),
        ('ending = "drop"', "", "result: a table with the keys ending and payments"),
        ('"drop"\npay', '"win"\npay', 'result.ending = "win": one of instant_win, claim, tonk'),
        ("[1.0, -1.0]", "[1.0]", "result.payments = [1.0]: a list of 2 numbers"),
        ("[1.0, -1.0]", '"1"', 'result.payments = "1": a list of 2 numbers'),
        ("players = 2", "players = ", "not TOML: "),
    ],
)
def test_what_is_wrong_is_said_in_one_line(old: str, new: str, says: str) -> None:
    assert GOOD.count(old) >= 1
    with pytest.raises(TonkError) as refused:
        parse_record(GOOD.replace(old, new, 1), "hand.toml")
    message = str(refused.value)
    assert message.startswith("hand.toml: " + says)
    assert "\n" not in message


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"drop"\npay', '"caught"\npay', "the record says caught, [1, -1], the engine finds drop, [1, -1]"),
        ("[1.0, -1.0]", "[2.0, -2.0]", "the record says drop, [2, -2], the engine finds drop, [1, -1]"),
        (', "0 drop"', "", "the record says drop, [1, -1], but its last move ends nothing"),
    ],
)
def test_a_result_that_disagrees_is_told_with_both(old: str, new: str, says: str) -> None:
    record = parse_record(GOOD.replace(old, new, 1), "hand.toml")
    assert record.disagreement() == f"hand.toml: result: {says}"


def test_a_record_may_stop_early() -> None:
    record = parse_record(GOOD.replace(', "0 drop"', "", 1).partition("[result]")[0])
    assert record.stated is None and record.found is None and record.disagreement() is None
    assert record.hand.to_move == 0 and "drop" in record.hand.legal_moves()


def test_stock_is_listed_no_further_than_needed() -> None:
    hand = Hand(deck="2c 9s 3c 9h 8h 7d Kd 5c Kh Ac Ks")
    assert "stock" not in hand.to_record()
    hand.apply("stock")
    assert 'stock = "4c"' in hand.to_record()
    hand = Hand(deck="2c 9s 3c 9h 8h 7d Kd 5c Kh Ac Ks Ad Qd")
    assert 'stock = "Ad Qd"' in hand.to_record()


def test_own_rules_are_written_as_what_differs() -> None:
    rules = {"base": "pagat", "drop": {"pays": 2}, "deal": {"hand_size": {"2": 5, "3": 4}}, "turn_limit": 7}
    text = Hand(rules, seed=1).to_record()
    assert text.endswith(
        '\n[rules]\nbase = "pagat"\nturn_limit = 7\n\n'
        '[rules.deal]\nhand_size = { "2" = 5, "3" = 4 }\n\n[rules.drop]\npays = 2.0\n'
    )
    assert 'rules = "pagat"' in Hand({"base": "pagat"}, seed=1).to_record()
