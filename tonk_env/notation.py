"""Hand records: one hand as a TOML file, in and out.

A record says what was dealt, what was done and what it paid. Reading one plays it, so a record that was read
is a hand that the rules allow; writing one and reading it again gives an equal hand. docs/HANDS.md describes
the format.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonk_env.actions import action_table
from tonk_env.cards import CARD_TEXT, cards_text, parse_cards
from tonk_env.engine.state import ENDINGS
from tonk_env.errors import TonkError
from tonk_env.hand import FORFEIT, Hand, full_deck
from tonk_env.limits import MAX_SEATS, RECORD_FORMAT
from tonk_env.rules import LoweredRules, Rules, load_rules, lower, preset_names
from tonk_env.rules.spec import NONE, make_rules

_CHANCE_KEYS = ("called_suit", "slap_orders", "deals_since_won", "multiplier")
KEYS = (
    "format", "rules", "players", "dealer", "hands", "widows", "upcard", "stock", *_CHANCE_KEYS, "actions",
    "result",
)  # fmt: skip
_MAY_BE_ABSENT = ("widows", "upcard", "stock", *_CHANCE_KEYS, "result")
RESULT_KEYS = ("ending", "payments")
_BASE = "pagat"


@dataclass(frozen=True)
class Result:
    """How a hand ended, as a record states it.

    Attributes:
        ending: one of ``ENDINGS``.
        payments: stakes by seat.
    """

    ending: str
    payments: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.ending}, {list(map(plain, self.payments))}"


@dataclass(frozen=True)
class Record:
    """A record that was read and played.

    Attributes:
        where: the file, for messages.
        hand: the hand, after the record's last move.
        stated: what the record says of the end, or None.
    """

    where: str
    hand: Hand
    stated: Result | None

    @property
    def found(self) -> Result | None:
        """What the engine found; None where the hand goes on."""
        ending, payments = self.hand.ending, self.hand.payments
        return None if ending is None or payments is None else Result(ending, tuple(payments))

    def disagreement(self) -> str | None:
        """Returns one line that gives both results where they differ, else None."""
        if self.stated is None:
            return None
        found = self.found
        if found is None:
            return f"{self.where}: result: the record says {self.stated}, but its last move ends nothing"
        close = all(abs(a - b) < 1e-9 for a, b in zip(self.stated.payments, found.payments, strict=True))
        if self.stated.ending == found.ending and close:
            return None
        return f"{self.where}: result: the record says {self.stated}, the engine finds {found}"


def plain(number: float) -> float | int:
    """Returns a whole number as an int, any other as it is."""
    return int(number) if float(number).is_integer() else float(number)


# ---- reading


def read_record(path: str | Path) -> Record:
    """Reads and plays a record.

    Raises:
        TonkError: the file cannot be read, or `parse_record` refuses it.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise TonkError(f"{path}: {reason}") from None
    return parse_record(text, str(path))


def parse_record(text: str, where: str = "record") -> Record:
    """Plays the record in a TOML text.

    Args:
        text: the record.
        where: its name in messages.

    Raises:
        TonkError: one line that names the place, the key, what is wrong and what is allowed; of an illegal
            move its number from 1, the move, and the legal ones.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TonkError(f"{where}: not TOML: {error}") from None
    try:
        return _play(data, where)
    except _Refused as error:
        raise TonkError(f"{where}: {error}") from None


class _Refused(Exception):
    """What is wrong with a record, without the name of its file."""


def _play(data: Mapping[str, Any], where: str) -> Record:
    for key in data:
        if key not in KEYS:
            raise _Refused(f"{key}: not a key of a hand record, whose keys are {', '.join(KEYS)}")
    for key in KEYS:
        if key not in data and key not in _MAY_BE_ABSENT:
            raise _Refused(f"{key}: missing")
    if data["format"] != RECORD_FORMAT:
        raise _Refused(f"format = {_shown(data['format'])}: only {_shown(RECORD_FORMAT)} is known")
    given = data["rules"]
    rules = _rules(given)
    players = _number(data, "players", 2, MAX_SEATS)
    try:
        rules.check_players(players)
    except TonkError as error:
        raise _Refused(str(error)) from None
    dealer = _number(data, "dealer", 0, players - 1)
    deck = _deck(data, lower(rules), players, dealer)
    chance = _chance(data, rules)
    try:
        hand = Hand(given if isinstance(given, str) else rules, players, dealer=dealer, deck=deck, **chance)
    except TonkError as error:
        raise _Refused(str(error)) from None
    _make_moves(hand, _texts(data, "actions"))
    return Record(where, hand, _result(data, players))


def _shown(value: Any) -> str:
    """A value as it may stand in a message: short, on one line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _rules(given: Any) -> Rules:
    try:
        if isinstance(given, str):
            return load_rules(given)
        if isinstance(given, dict):
            return make_rules(given, "rules")
    except TonkError as error:
        text = str(error)
        raise _Refused(text if text.startswith("rules: ") else f"rules: {text}") from None
    raise _Refused(f"rules = {_shown(given)}: the name of a preset, or a table of options")


def _number(data: Mapping[str, Any], key: str, least: int, most: int) -> int:
    value = data[key]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _Refused(f"{key} = {_shown(value)}: a whole number from {least} to {most}")
    return value


def _texts(data: Mapping[str, Any], key: str) -> list[str]:
    value = data[key]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Refused(f"{key} = {_shown(value)}: a list of texts")
    return value


def _chance(data: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """Returns what is said of chance beside the deck, as arguments of `Hand`."""
    bets = rules.side_bets
    needed = {
        "called_suit": bool(bets.suit),
        "slap_orders": rules.slap,
        "deals_since_won": bool(bets.suit or bets.naturals),
        "multiplier": True,
    }
    for key, is_needed in needed.items():
        if key in data and not is_needed:
            raise _Refused(f"{key}: these rules have no use for it; leave the key out")
    chance: dict[str, Any] = {}
    if bets.suit:
        suit = data.get("called_suit")
        if not isinstance(suit, str):
            raise _Refused(
                f"called_suit{'' if suit is None else f' = {_shown(suit)}'}: the suit that was called"
            )
        chance["called_suit"] = suit
    if rules.slap:
        orders = data.get("slap_orders", [])
        if not isinstance(orders, list) or not all(
            isinstance(order, list) and all(type(seat) is int for seat in order) for order in orders
        ):
            raise _Refused(f"slap_orders = {_shown(orders)}: a list of lists of seats")
        chance["slap_orders"] = orders
    if "deals_since_won" in data:
        deals = data["deals_since_won"]
        if not isinstance(deals, dict) or not all(type(number) is int for number in deals.values()):
            raise _Refused(f"deals_since_won = {_shown(deals)}: a table of whole numbers")
        chance["deals_since_won"] = deals
    if "multiplier" in data:
        times = data["multiplier"]
        if type(times) not in (int, float) or not 0 < times <= 100:
            raise _Refused(f"multiplier = {_shown(times)}: a number above 0, to 100")
        chance["multiplier"] = float(times)
    return chance


def _cards(data: Mapping[str, Any], key: str, text: Any) -> list[int]:
    if not isinstance(text, str):
        raise _Refused(f"{key} = {_shown(text)}: a text of cards")
    try:
        return parse_cards(text)
    except TonkError as error:
        raise _Refused(f"{key}: {error}") from None


def _deck(data: Mapping[str, Any], rules: LoweredRules, players: int, dealer: int) -> list[int]:
    """Returns the cards that a record names in dealing order, checked against the deck."""
    hands = _texts(data, "hands")
    if len(hands) != players:
        raise _Refused(f"hands: {len(hands)} of them, but players = {players}")
    by_seat = [_cards(data, f"hands[{seat}]", text) for seat, text in enumerate(hands)]
    size = rules.rules.hand_size(players)
    for seat, cards in enumerate(by_seat):
        if len(cards) != size:
            raise _Refused(
                f"hands[{seat}]: {len(cards)} cards, but these rules deal {size} to each of {players}"
            )
    upcard = _cards(data, "upcard", data["upcard"]) if "upcard" in data else []
    if len(upcard) != rules.rules.deal.upcard:
        dealt = "one card" if rules.rules.deal.upcard else "none; leave the key out"
        raise _Refused(f"upcard: {len(upcard)} cards, but these rules deal {dealt}")
    stock = _cards(data, "stock", data.get("stock", ""))
    widows = _texts(data, "widows") if "widows" in data else []
    if len(widows) != players * rules.rules.deal.widow:
        dealt = f"one to each of {players}" if rules.rules.deal.widow else "none; leave the key out"
        raise _Refused(f"widows: {len(widows)} cards, but these rules deal {dealt}")
    widow_cards = [_cards(data, f"widows[{seat}]", text) for seat, text in enumerate(widows)]
    for seat, cards in enumerate(widow_cards):
        if len(cards) != 1:
            raise _Refused(f"widows[{seat}]: {len(cards)} cards, but each seat is dealt one")

    by_name = [("hands", by_seat), ("widows", widow_cards)]
    places = {f"{name}[{seat}]": each for name, seats in by_name for seat, each in enumerate(seats)} | {
        "upcard": upcard,
        "stock": stock,
    }
    whole = full_deck(rules, players)
    left = whole.copy()
    for key, cards in places.items():
        for card in cards:
            if card in left:
                left.remove(card)
                continue
            text, held = CARD_TEXT[card], whole.count(card)
            if not held:
                raise _Refused(f"{key}: {text} is not in the deck of these rules")
            where = ", ".join(key for key, cards in places.items() for other in cards if other == card)
            raise _Refused(f"{key}: {text} is dealt more often ({where}) than the deck holds it ({held})")
    from_left = [(dealer + step) % players for step in range(1, players + 1)]
    order = [by_seat[seat][place] for place in range(size) for seat in from_left]
    order += [widow_cards[seat][0] for seat in from_left if widow_cards]
    return order + upcard + stock


def _make_moves(hand: Hand, lines: Sequence[str]) -> None:
    for number, line in enumerate(lines, start=1):
        named = f"move {number}, {_shown(line)}"
        words = line.split(maxsplit=1)
        seat = int(words[0]) if words and words[0].isascii() and words[0].isdigit() else -1
        if hand.ended:
            after = f"by {hand.ending} " + (f"at move {number - 1}" if number > 1 else "on the deal")
            raise _Refused(f"{named}: the hand ended {after}, no move is legal")
        if len(words) < 2 or not 0 <= seat < hand.num_players:
            seats, forms = f"0 to {hand.num_players - 1}", ", ".join(action_table(hand.rules).forms)
            raise _Refused(f"{named}: a move is a seat ({seats}), then one of {forms}; {_legal(hand)}")
        move = " ".join(words[1].split())
        if move == FORFEIT:
            hand.forfeit(seat)
            continue
        if seat != hand.to_move:
            raise _Refused(f"{named}: seat {hand.to_move} is to move; {_legal(hand)}")
        try:
            action = hand.parse_move(move)
        except TonkError as error:
            raise _Refused(f"{named}: {error}; {_legal(hand)}") from None
        if action not in hand.legal_actions():
            raise _Refused(f"{named}: not legal; {_legal(hand)}")
        try:
            hand.apply(action)
        except TonkError as error:  # the record lacks an order to ask about slaps by
            raise _Refused(f"{named}: {error}") from None


def _legal(hand: Hand) -> str:
    return "legal: " + ", ".join(f"{hand.to_move} {move}" for move in hand.legal_moves())


def _result(data: Mapping[str, Any], players: int) -> Result | None:
    if "result" not in data:
        return None
    result = data["result"]
    if not isinstance(result, dict) or set(result) != set(RESULT_KEYS):
        wrong = [key for key in result if key not in RESULT_KEYS] if isinstance(result, dict) else []
        said = f"result.{wrong[0]}: no such key" if wrong else "result"
        raise _Refused(f"{said}: a table with the keys {' and '.join(RESULT_KEYS)}")
    ending, payments = result["ending"], result["payments"]
    if ending not in ENDINGS[1:]:
        raise _Refused(f"result.ending = {_shown(ending)}: one of {', '.join(ENDINGS[1:])}")
    numbers = isinstance(payments, list) and all(type(amount) in (int, float) for amount in payments)
    if not numbers or len(payments) != players:
        raise _Refused(f"result.payments = {_shown(payments)}: a list of {players} numbers")
    return Result(ending, tuple(map(float, payments)))


# ---- writing


def format_record(hand: Hand) -> str:
    """Returns a hand as a record, ready to be written to a file.

    The stock is listed as far as it was drawn, and further while its order is not the one that `parse_record`
    fills in; so the record also fixes what has not been drawn yet.

    Raises:
        TonkError: the hand is not dealt yet.
    """
    hands, widows, upcard, stock = hand._deck()
    if any(len(cards) != hand.rules.rules.hand_size(hand.num_players) for cards in hands) or hand.is_chance:
        raise TonkError("to_record: a card is due; the hand can be written once it is given")
    listed, drawn = len(stock), sum(event.move == "stock" for event in hand.events)
    while listed > drawn and (listed == len(stock) or stock[listed - 1] <= stock[listed]):
        listed -= 1
    stock = stock[:listed]
    preset = _preset_name(hand)
    lines = [f"format = {_quoted(RECORD_FORMAT)}"]
    if preset is not None:
        lines.append(f"rules = {_quoted(preset)}")
    lines.append(f"players = {hand.num_players}")
    lines.append(f"dealer = {hand.dealer}")
    lines.append(f"hands = [{', '.join(_quoted(cards_text(cards)) for cards in hands)}]")
    if widows:
        lines.append(f"widows = [{', '.join(_quoted(CARD_TEXT[card]) for card in widows)}]")
    if upcard is not None:
        lines.append(f"upcard = {_quoted(cards_text([upcard]))}")
    if stock:
        lines.append(f"stock = {_quoted(cards_text(stock))}")
    bets = hand.rules.rules.side_bets
    if bets.suit and hand.called_suit is not None:
        lines.append(f"called_suit = {_quoted(hand.called_suit)}")
    if hand.slap_orders:
        lines.append(f"slap_orders = {hand.slap_orders}")
    if (bets.suit or bets.naturals) and any(deals != 1 for deals in hand.deals_since_won.values()):
        lines.append(f"deals_since_won = {_toml(hand.deals_since_won)}")
    if hand.multiplier != 1:
        lines.append(f"multiplier = {plain(hand.multiplier)}")
    lines += _actions(hand)
    if preset is None:
        lines += ["", "[rules]", f"base = {_quoted(_BASE)}", *_options(hand.rules.rules)]
    ending, payments = hand.ending, hand.payments
    if ending is not None and payments is not None:
        lines += ["", "[result]", f"ending = {_quoted(ending)}", f"payments = {payments!r}"]
    return "\n".join(lines) + "\n"


def _preset_name(hand: Hand) -> str | None:
    """Returns the preset that the rules of a hand are, the one it was made with before others."""
    names = preset_names()
    first = [hand.preset] if hand.preset in names else []
    for name in (*first, _BASE):
        if name is not None and lower(name).fingerprint == hand.rules.fingerprint:
            return name
    return None


def _actions(hand: Hand) -> list[str]:
    """Returns the moves as an array with one line for each turn."""
    lines: list[list[str]] = []
    seat = None
    for event in hand.events:
        if event.seat != seat:
            lines.append([])
            seat = event.seat
        lines[-1].append(_quoted(f"{event.seat} {event.move}"))
    return (
        ["actions = []"] if not lines else ["actions = [", *(f"  {', '.join(line)}," for line in lines), "]"]
    )


def _options(rules: Rules) -> list[str]:
    """Returns what differs from the base, as lines of TOML for a table ``rules``."""
    base = load_rules(_BASE).model_dump()
    lines: list[str] = []
    tables: list[str] = []
    for key, value in rules.model_dump().items():
        if value == base[key] or key == "match":  # of a match, a record shows one hand
            continue
        if isinstance(value, dict):
            changed = {name: item for name, item in value.items() if item != base[key][name]}
            tables += ["", f"[rules.{key}]", *(f"{name} = {_toml(item)}" for name, item in changed.items())]
        else:
            lines.append(f"{key} = {_toml(value)}")
    return lines + tables


def _toml(value: Any) -> str:
    if value is None:
        return _quoted(NONE)
    if isinstance(value, dict):
        inside = (f"{_quoted(str(key))} = {_toml(item)}" for key, item in value.items() if item is not None)
        return "{ " + ", ".join(inside) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return _quoted(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
