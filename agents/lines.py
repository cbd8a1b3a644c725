"""The protocol that outside programs speak, `tonk-bot/1`: views as lines of JSON, lines as moves.

docs/BOTS.md describes it. Everything a program is told comes from the view of its own seat. Seats are
those of the table, cards and moves are written as in hand records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agents.pipes import GARBAGE, ILLEGAL, IMPOSTOR, START, Trouble, clean
from tonk_env.actions import action_table, fillers
from tonk_env.cards import CARD_TEXT, JOKER, NUM_RANKS, RANKS, mask_cards
from tonk_env.engine.state import PHASES
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules
from tonk_env.table_text import spread_text

PROTOCOL = "tonk-bot/1"
BYE = '{"type":"bye"}'
_LOT_SHIFT = 32  # leaves 31 random bits, which every language holds


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def hello_line(
    rules: LoweredRules, players: int, seat: int, seconds: float, first_seconds: float, seed: int
) -> str:
    """Returns the line that a program is greeted with, one for each seat that it plays.

    Args:
        rules: the rules; every option is told, and what each rank counts.
        players: seats at the table.
        seat: the seat that this run of the program plays.
        seconds: the clock of each move.
        first_seconds: the clock of the answer to this line.
        seed: for what the program does at random.
    """
    options = rules.rules
    values = {RANKS[rank]: options.deck.value(rank) for rank in range(NUM_RANKS)}
    return _line(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "players": players,
            "seat": seat,
            "seconds": seconds,
            "first_seconds": first_seconds,
            "seed": seed,
            "values": {**values, CARD_TEXT[JOKER]: options.deck.joker_value},
            "rules": options.model_dump(mode="json"),
        }
    )


def read_ready(answer: str) -> None:
    """Takes the answer to a hello: ``{"ready": "tonk-bot/1"}`` or ``ready tonk-bot/1``.

    Raises:
        Trouble: it is another.
    """
    data = _json(answer)
    ready = data.get("ready") if data is not None else answer.removeprefix("ready ").strip()
    if ready != PROTOCOL or (data is None and not answer.startswith("ready ")):
        raise Trouble(START, f"said {clean(answer)!r} to the hello, not 'ready {PROTOCOL}'")


def moves_of(view: Any, rules: LoweredRules, actions: Sequence[int]) -> dict[str, int]:
    """Returns legal actions by their text; `view` is a record of VIEW_DTYPE, of the seat to move."""
    table, seat, players = action_table(rules), int(view["seat"]), int(view["num_players"])
    hand = view["hand"]
    return {table.text(action, seat, players, hand): action for action in actions}


def move_line(view: Any, rules: LoweredRules, moves: Mapping[str, int], hand: int | None, key: int) -> str:
    """Returns the line that asks for a move.

    Args:
        view: a record of VIEW_DTYPE, of the seat to move.
        rules: the rules.
        moves: the legal moves, of `moves_of`.
        hand: the hand's number, or None where nobody counts them.
        key: 63 random bits of this decision.
    """
    n, seat = int(view["num_players"]), int(view["seat"])
    # Row of the view of each seat of the table: views count from their own.
    rows = [(at - seat) % n for at in range(n)]

    def at_table(row: Any) -> int | None:
        return (int(row) + seat) % n if row >= 0 else None

    laid = view["num_spreads"].tolist()
    held, waits, turns = (view[field].tolist() for field in ("num_cards", "waits", "own_turns"))
    data: dict[str, Any] = {
        "type": "move",
        "hand": hand,
        "seat": seat,
        "turn": at_table(view["turn_of"]),
        "ask": PHASES[int(view["phase"])],
        "dealer": at_table(view["dealer"]),
        "cards": _texts(view["hand"]),
        "count": int(view["count"]),
        "taken": _text(view["taken"]),
        "pending": _text(view["pending"]),
        "top": _text(view["top"]),
        "pile": int(view["pile_size"]),
        "stock": int(view["stock_size"]),
        "held": [held[row] for row in rows],
        "spreads": [
            [spread_text(view, rules.record[0], row, place) for place in range(laid[row])] for row in rows
        ],
        "waits": [waits[row] for row in rows],
        "turns": [turns[row] for row in rows],
        "seen": _texts(view["seen"]),
        "known": [_texts(view["known"][row]) for row in rows],
        "thrown": [_texts((view["thrown"][row], 0)) for row in rows],
    }
    _add_special(data, view, rules, rows, at_table)
    # The legal moves come last: a program without a JSON parser may look for this word alone.
    return _line({**data, "lot": key >> _LOT_SHIFT, "legal": list(moves)})


def _add_special(
    data: dict[str, Any], view: Any, rules: LoweredRules, rows: Sequence[int], at_table: Any
) -> None:
    """Adds what only some rules have."""
    options = rules.rules
    if options.spreads.lock_after is not None:
        data["locked"] = [bool(view["locked"][row]) for row in rows]
    if options.waiting.blocks_going_out:
        data["blocked"] = [bool(view["blocked"][row]) for row in rows]
    if options.deal.widow:
        data["swapped"] = [bool(view["swapped"][row]) for row in rows]
        data["put_away"] = _text(view["put_away"])
    if options.slap:
        data["thrower"] = at_table(view["thrower"])
        data["slapper"] = at_table(view["slapper"])
        data["passed"] = [bool(view["passed"][row]) for row in rows]
    if options.side_bets.suit or options.side_bets.naturals:
        data["called_suit"] = "cdhs"[int(view["called_suit"])] if view["called_suit"] >= 0 else None
        data["bet_deals"] = view["bet_deals"].tolist()
        data["naturals_winner"] = at_table(view["naturals_winner"])
    if view["multiplier"] != 1:
        data["multiplier"] = float(view["multiplier"])


def end_line(hand: int | None, seat: int, ending: str, by: int | None, payments: Sequence[float]) -> str:
    """Returns the line that tells how a hand ended.

    Args:
        hand: its number.
        seat: who is told.
        ending: a word of hand records.
        by: who brought it about, or None.
        payments: in stakes, by seat.
    """
    paid = [amount + 0.0 for amount in payments]  # no minus zero
    return _line({"type": "end", "hand": hand, "seat": seat, "ending": ending, "by": by, "payments": paid})


def read_move(answer: str, view: Any, rules: LoweredRules, moves: Mapping[str, int], hand: int | None) -> int:
    """Returns the action that a program answered: ``{"move": "discard 8h"}`` or ``discard 8h``.

    Args:
        answer: the line.
        view, rules, moves, hand: as the program was asked.

    Raises:
        Trouble: it is no move, an illegal one, or one of another seat or hand.
    """
    data = _json(answer)
    if data is not None:
        _check_addressee(data, "seat", int(view["seat"]))
        _check_addressee(data, "hand", hand)
    move = data.get("move") if data is not None else answer
    if not isinstance(move, str):
        raise Trouble(GARBAGE, f"said {clean(answer)!r}, which has no move")
    if move in moves:
        return moves[move]
    try:
        action = action_table(rules).parse(move, int(view["seat"]), int(view["num_players"]))
    except TonkError:
        raise Trouble(GARBAGE, f"said {clean(answer)!r}, which is not a move") from None
    text = next((text for text, legal in moves.items() if legal == action), None)
    if text is None or (fillers(move) and fillers(move) != fillers(text)):
        raise Trouble(ILLEGAL, f"said {clean(move)!r}; legal were {clean(', '.join(moves), 400)}")
    return action


def _check_addressee(data: Mapping[str, Any], key: str, wanted: int | None) -> None:
    if key in data and data[key] != wanted:
        raise Trouble(IMPOSTOR, f"answered for {key} {clean(str(data[key]), 20)}, asked was {key} {wanted}")


def _json(answer: str) -> dict[str, Any] | None:
    """The object that an answer is, or None where it is none."""
    if not answer.startswith("{"):
        return None
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        raise Trouble(GARBAGE, f"said {clean(answer)!r}, which is not JSON") from None
    return data if isinstance(data, dict) else None


def _text(card: Any) -> str | None:
    return CARD_TEXT[card] if card >= 0 else None


def _texts(words: Any) -> list[str]:
    return [CARD_TEXT[card] for card in mask_cards(words)]
