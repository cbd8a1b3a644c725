"""The options of Tonk: one frozen model that declares each house rule once.

Every option has a type, a default, a range, a meaning (``description``) and where it comes from (``source``,
see docs/RULES.md). `load_rules` reads a preset or a file; `tonk_env.rules.lower` turns the model into tables.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from tonk_env.cards import CARD_TEXT, JOKER, RANKS
from tonk_env.errors import TonkError
from tonk_env.invalid import one_line
from tonk_env.limits import MAX_HAND, MAX_JOKERS, MAX_SEATS, MAX_TIERS, MAX_TURN_LIMIT, MAX_WILD_RANKS
from tonk_env.resources import find_config, list_configs, read_toml

Pays = Annotated[float, Field(ge=0, le=100)]
MAX_VALUE = 39


def _ranks_in_order(ranks: str) -> str:
    if "".join(rank for rank in RANKS if rank in ranks) != ranks:
        raise ValueError(f"ranks must be some of {RANKS}, each once, in that order")
    return ranks


def _some_ranks(ranks: str) -> str:
    ordered = "".join(rank for rank in RANKS if rank in ranks)
    if len(ordered) != len(ranks):
        raise ValueError(f"wild ranks must be some of {RANKS}, each once")
    return ordered


Ranks = Annotated[str, Field(min_length=1), AfterValidator(_ranks_in_order)]
NONE = "none"
"""How a file says that an option is off whose value is a number or text."""


def _option(default: Any, meaning: str, source: str, **limits: Any) -> Any:
    return Field(default, description=meaning, json_schema_extra={"source": source}, **limits)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)

    @model_validator(mode="before")
    @classmethod
    def _none(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        return {name: cls._given(name, value) for name, value in data.items()}

    @classmethod
    def _given(cls, name: str, value: Any) -> Any:
        """What a file's value stands for: a switch is no number, though Python takes true for 1."""
        annotation = cls.model_fields[name].annotation if name in cls.model_fields else bool
        if value == NONE and type(None) in get_args(annotation):
            return None
        return str(value).lower() if isinstance(value, bool) and annotation is not bool else value


class Deck(_Section):
    """What the pack holds and what its cards count."""

    ranks: Ranks = _option(
        RANKS, "ranks in the pack, in run order: a run passes over a rank left out", "13, 20"
    )
    suits: int = _option(4, "suits in the pack, of c d h s; fewer for toy games", "-", ge=1, le=4)
    packs: Literal[1, 2, "auto"] = _option(
        1, "packs shuffled together; auto: two from five players on", "seed 001"
    )
    jokers: int = _option(0, "jokers in the deck, in all", "15, 18; seeds 001, 004", ge=0, le=MAX_JOKERS)
    joker_role: Literal["wild", "dead"] = _option(
        "wild", "wild: stands for any card in a spread; dead: is never in one", "15, 18; seeds 001, 004"
    )
    wild_ranks: Annotated[str, AfterValidator(_some_ranks)] = _option(
        "", "ranks whose cards are wild too; empty: none", "15", max_length=MAX_WILD_RANKS
    )
    values: dict[str, int] = _option(
        {},
        "points of ranks, or of Jk, that differ from A 1, 2-10 face value, J Q K 10, Jk 0",
        "18, 19; seed 001",
    )

    @model_validator(mode="after")
    def _check(self) -> Deck:
        for rank, value in self.values.items():
            if rank != CARD_TEXT[JOKER] and (len(rank) != 1 or rank not in RANKS):
                raise ValueError(f"values.{rank} = {value}: not a rank of {RANKS}, nor Jk")
            if not 0 <= value <= MAX_VALUE:
                raise ValueError(f"values.{rank} = {value}: not within 0 to {MAX_VALUE}")
        for rank in self.wild_ranks:
            if rank not in self.ranks:
                raise ValueError(
                    f"wild_ranks = {self.wild_ranks!r}: {rank} is not among the deck's ranks {self.ranks}"
                )
        return self

    def value(self, rank: int) -> int:
        """Returns the points of a rank (0 = ace … 12 = king)."""
        return self.values.get(RANKS[rank], min(rank + 1, 10))

    @property
    def joker_value(self) -> int:
        """Points of a joker."""
        return self.values.get(CARD_TEXT[JOKER], 0)

    @property
    def has_wilds(self) -> bool:
        """Whether any card is wild."""
        return bool(self.wild_ranks) or (self.jokers > 0 and self.joker_role == "wild")


class Deal(_Section):
    """What is dealt."""

    hand_size: (
        Annotated[int, Field(ge=1, le=MAX_HAND)] | dict[int, Annotated[int, Field(ge=1, le=MAX_HAND)]]
    ) = _option(5, "cards dealt to each player; or a table by number of players", "20, 24; seeds 001, 004")
    upcard: bool = _option(True, "turn a card up to start the discard pile", "1")
    widow: bool = _option(
        False, "a face-down card each, to swap for one of the hand at the first turn, for a stake", "seed 001"
    )

    @model_validator(mode="after")
    def _check(self) -> Deal:
        if isinstance(self.hand_size, dict):
            if not self.hand_size or any(not 2 <= seats <= MAX_SEATS for seats in self.hand_size):
                raise ValueError(
                    f"hand_size = {self.hand_size}: a table goes by number of players, 2 to {MAX_SEATS}"
                )
        return self


class Spreads(_Section):
    """Sets and runs."""

    ace: Literal["low", "low_or_high", "wrap"] = _option(
        "low", "low: A-2-3 only; low_or_high: Q-K-A too; wrap: K-A-2 too", "seed 001"
    )
    must_spread: Literal["no", "yes", "except_aces"] = _option(
        "no", "a spread that can be laid must be; except_aces: sets of aces may be held", "2"
    )
    lock_after: int | None = _option(
        None,
        "that many spreads lock a player: no hits by others, no drops, no winner when the stock runs out",
        "seed 001",
        ge=1,
    )
    min_naturals: int = _option(1, "cards of a spread that are not wild, at least", "docs", ge=1, le=2)
    hits_per_turn: int | None = _option(None, "the most hits in one turn", "docs", ge=1)
    taken_must_meld: bool = _option(
        False, "a discard is taken only to spread or hit with it, at once", "docs"
    )


class Tier(_Section):
    """Dealt hands that win at once: those that meet any one of the conditions given."""

    counts: tuple[int, ...] = _option((), "exact counts", "9-16")
    at_most: int | None = _option(None, "a count no higher than this", "9-16", ge=0)
    all_ranks: Ranks | None = _option(None, "only cards of these ranks", "14, 24")
    pays: Pays = _option(2.0, "stakes from each other player", "9-16")
    lowest_first: bool = _option(False, "within the tier a lower count is better", "9-12")
    claim: Literal["none", "first_turn"] = _option(
        "none", "first_turn: not paid on the deal, but when claimed at the start of one's first turn", "15"
    )

    @model_validator(mode="after")
    def _check(self) -> Tier:
        if not self.counts and self.at_most is None and self.all_ranks is None:
            raise ValueError("counts = []: a tier needs at least one of counts, at_most and all_ranks")
        return self


class InstantWins(_Section):
    """Hands that win on the deal."""

    tiers: tuple[Tier, ...] = _option(
        (), "tiers of winning hands, best first", "9-16, 19, 24", max_length=MAX_TIERS
    )
    tie: Literal["void", "nearest_left", "all_paid"] = _option(
        "void",
        "equal best hands: void hand, nearest to the dealer's left wins, or every qualifying hand is paid",
        "9-16",
    )


class Caught(_Section):
    """Who pays what when a drop is not the lowest, in stakes."""

    lowest: Pays = _option(2.0, "the dropper to each lowest other player", "4")
    lower: Pays = _option(2.0, "the dropper to each other player below the dropper", "4")
    equal: Pays = _option(2.0, "the dropper to each other player with the dropper's count", "4")
    higher: Pays = _option(0.0, "the dropper to each player above the dropper", "4")
    others_to_lowest: Pays = _option(1.0, "each remaining non-dropper to each lowest", "4")
    lowest_times: Literal["one", "opponents", "players"] = _option(
        "one", "multiplies what a lowest player gets", "4, 16"
    )
    lowest_tie: Literal["each", "nearest_left"] = _option(
        "each", "which of several lowest players are paid so", "4"
    )


_CAUGHT_COLUMNS = ("lowest", "lower", "equal", "higher", "others_to_lowest")
_CAUGHT_ROWS: dict[str, tuple[float, ...]] = {
    "pagat": (2, 2, 2, 0, 1),
    "low_takes_all": (2, 0, 0, 0, 1),
    "pay_for_everyone": (1, 0, 0, 0, 0),
    "single_plus_low": (2, 1, 1, 0, 1),
    "double_to_all": (2, 2, 2, 2, 0),
    "five_to_low": (5, 0, 0, 0, 0),
    "double_only": (2, 2, 2, 0, 0),
    "bump": (4, 4, 4, 0, 0),
    "chicago": (2, 0, 0, 0, 0),
    "washington": (2, 0, 0, 0, 0),
    "lower_only": (2, 2, 0, 0, 0),
    "tonk_com": (2, 1, 0, 0, 1),
    "wikipedia": (2, 1, 2, 0, 1),
}
_CAUGHT_EXTRAS: dict[str, dict[str, Any]] = {
    "pay_for_everyone": {"lowest_times": "opponents"},
    "five_to_low": {"lowest_tie": "nearest_left"},
    "washington": {"lowest_times": "players"},
}
CAUGHT_TABLES: dict[str, Caught] = {
    name: Caught(**dict(zip(_CAUGHT_COLUMNS, row, strict=True)), **_CAUGHT_EXTRAS.get(name, {}))
    for name, row in _CAUGHT_ROWS.items()
}
"""The named caught tables (docs/RULES.md, "Caught table")."""


def _caught_by_name(value: Any) -> Any:
    if isinstance(value, str):
        if value not in CAUGHT_TABLES:
            raise ValueError(
                f"caught = {value!r}: not a caught table: {', '.join(CAUGHT_TABLES)}, or a table of your own"
            )
        return CAUGHT_TABLES[value]
    return value


class Drop(_Section):
    """Claiming the lowest count."""

    allowed: bool = _option(True, "players may drop", "-")
    max_count: int | None = _option(None, "no drop above this count", "-", ge=0)
    pays: Pays = _option(1.0, "a won drop: stakes from each other player", "-")
    tie_with_dropper: Literal["caught", "share", "dropper_wins"] = _option(
        "caught", "nobody is lower and somebody is equal", "seeds 002, 003"
    )
    caught: Caught = _option(
        CAUGHT_TABLES["pagat"], "who pays when somebody is lower; a name or a table", "4, 14-16"
    )

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "caught" in data:
            return {**data, "caught": _caught_by_name(data["caught"])}
        return data


class Waiting(_Section):
    """Turns during which a player may not drop."""

    after_spread: int = _option(0, "own turns added by laying a spread", "6, 8", ge=0, le=50)
    after_hit: int = _option(0, "own turns added by being hit by another player", "6, 8, 16", ge=0, le=50)
    after_own_hit: int = _option(0, "own turns added by hitting a spread of one's own", "6, 8", ge=0, le=50)
    cumulative: bool = _option(True, "amounts add up; else the longest counts", "6")
    one_hit_per_round: bool = _option(False, "between two of the player's turns only the first hit adds", "7")
    blocks_going_out: bool = _option(False, "a player hit by another may not go out on the next turn", "8")


class GoingOut(_Section):
    """What emptying the hand pays, in stakes from each other player."""

    discard: Pays = _option(1.0, "emptied by the discard", "3")
    spread: Pays = _option(2.0, "emptied by a spread", "3")
    hit: Pays = _option(2.0, "emptied by a hit", "3")
    first_turn_two_spreads: Pays | None = _option(
        None,
        "emptied on the first turn by the second of two own spreads; replaces a smaller amount",
        "12, 15",
    )
    no_earlier_spread: Pays | None = _option(
        None, "no spread laid on an earlier turn (run-out); replaces a smaller amount", "seed 001"
    )
    after_hitting: Pays | None = _option(
        None, "the most that is paid once the player hit on an earlier turn", "15"
    )
    stock_floor: Literal["none", "players"] = _option(
        "none",
        "players: with no more stock cards than players an emptied hand goes on, and must drop next turn",
        "14",
    )


class StockOut(_Section):
    """A turn ends and the stock is empty."""

    result: Literal["lowest_wins", "void", "must_drop"] = _option(
        "lowest_wins", "lowest count wins, nobody pays, or the next player must drop", "5; seed 001"
    )
    tie: Literal["void", "share", "nearest_left"] = _option("void", "several lowest counts", "14; seed 004")


class SideBets(_Section):
    """Bets beside the hand: everybody antes, the winner takes an ante from each for every deal it stood."""

    suit: Pays = _option(0.0, "ante on the highest card dealt of a suit called at random", "23")
    naturals: Pays = _option(0.0, "ante on the first set laid without wilds", "23")


class Match(_Section):
    """Several hands: how many, and who deals first."""

    hands: int | None = _option(
        1,
        "hands in a match; none: no limit but the target (so without it, where a target is given)",
        "16, 22",
        ge=1,
    )
    target: float | None = _option(
        None,
        "a total that ends the match: stakes won, or points under push_ups",
        "16, 22",
        gt=0,
        allow_inf_nan=False,
    )
    last_hands_double: int = _option(0, "that many last hands pay double", "22", ge=0)
    first_dealer: Literal["random", "high_card", "low_card"] | Annotated[int, Field(ge=0, lt=MAX_SEATS)] = (
        _option(
            "random",
            "who deals first: by chance, by a cut for the high or low card, or a seat",
            "seeds 001, 004",
        )
    )

    @model_validator(mode="before")
    @classmethod
    def _no_limit(cls, data: Any) -> Any:
        has_target = isinstance(data, Mapping) and data.get("target", NONE) not in (None, NONE)
        return {"hands": None, **data} if has_target else data

    @model_validator(mode="after")
    def _check(self) -> Match:
        if self.hands is None and self.target is None:
            raise ValueError("hands = 'none': needs a target, or the match never ends")
        if self.last_hands_double and (self.hands is None or self.hands < self.last_hands_double):
            raise ValueError(
                f"last_hands_double = {self.last_hands_double}: needs a match of that many hands or more, "
                f"and hands = {self.hands or NONE!r}"
            )
        return self


class Rules(_Section):
    """Every option of a table. Defaults are the standard game without its instant wins.

    Raises:
        TonkError: through `load_rules` and `make_rules`, naming the option, its value and what is allowed.
    """

    deck: Deck = Deck()
    deal: Deal = Deal()
    spreads: Spreads = Spreads()
    instant_wins: InstantWins = InstantWins()
    drop: Drop = Drop()
    waiting: Waiting = Waiting()
    going_out: GoingOut = GoingOut()
    stock_out: StockOut = StockOut()
    long_spread_bonus: Pays = _option(
        0.0, "stakes that the winners give back to a loser who laid four cards or more at once", "seed 001"
    )
    slap: bool = _option(
        False, "a discard that hits a spread goes to whoever is first to slap it there", "21"
    )
    side_bets: SideBets = SideBets()
    scoring: Literal["stakes", "push_ups"] = _option(
        "stakes", "stakes change hands, or losers add their counts", "17"
    )
    discard_taken: bool = _option(
        False, "a card taken from the pile may be discarded in the same turn", "docs"
    )
    turn_limit: int = _option(
        50, "turns for each player, then the hand ends as stock_out", "docs", ge=1, le=MAX_TURN_LIMIT
    )
    forfeit: Pays = _option(2.0, "a forfeiting player to each other player", "docs")
    match: Match = Match()

    @model_validator(mode="after")
    def _clashes(self) -> Rules:
        must_drop = "stock_out.result = 'must_drop'" if self.stock_out.result == "must_drop" else ""
        floor = "going_out.stock_floor = 'players'" if self.going_out.stock_floor != "none" else ""
        beside = {
            "side_bets.suit": self.side_bets.suit,
            "side_bets.naturals": self.side_bets.naturals,
            "deal.widow": self.deal.widow,
            "long_spread_bonus": self.long_spread_bonus,
        }
        for is_on, option, clashes in (
            (not self.drop.allowed, "drop.allowed = false", (must_drop, floor)),
            (self.spreads.lock_after, f"spreads.lock_after = {self.spreads.lock_after}", (must_drop, floor)),
            (
                self.scoring == "push_ups",
                "scoring = 'push_ups'",
                [f"{name} = {str(value).lower()}" for name, value in beside.items() if value],
            ),
        ):
            if is_on and any(clashes):
                raise ValueError(f"{option} clashes with {next(filter(None, clashes))}: choose one of them")
        if not self.player_counts():
            raise ValueError(
                f"deal.hand_size = {self.deal.hand_size}: hands, widows and upcard leave no stock card "
                f"of {self.deck_size(MAX_SEATS)}, whatever the number of players"
            )
        for index, tier in enumerate(self.instant_wins.tiers):
            if not any(self._can_meet(tier, self.hand_size(seats)) for seats in self.player_counts()):
                given = tier.model_dump(include={"counts", "at_most", "all_ranks"}, exclude_defaults=True)
                terms = ", ".join(f"{name} = {value}" for name, value in given.items())
                raise ValueError(f"instant_wins.tiers[{index}]: no dealt hand can meet it ({terms})")
        return self

    def packs(self, num_players: int) -> int:
        """Returns the packs in use for that many players."""
        if self.deck.packs == "auto":
            return 2 if num_players >= 5 else 1
        return self.deck.packs

    def deck_size(self, num_players: int) -> int:
        """Returns the cards in the deck for that many players."""
        return len(self.deck.ranks) * self.deck.suits * self.packs(num_players) + self.deck.jokers

    def hand_size(self, num_players: int) -> int:
        """Returns the cards dealt to each of that many players (0 where a table leaves the number out)."""
        size = self.deal.hand_size
        return size.get(num_players, 0) if isinstance(size, dict) else size

    def player_counts(self) -> tuple[int, ...]:
        """Returns the numbers of players these rules can be played by."""
        return tuple(
            seats
            for seats in range(2, MAX_SEATS + 1)
            if self.hand_size(seats)
            and (self.hand_size(seats) + self.deal.widow) * seats + self.deal.upcard < self.deck_size(seats)
        )

    def check_players(self, num_players: int) -> None:
        """Checks that these rules can be played by that many players.

        Raises:
            TonkError: they cannot.
        """
        if num_players not in self.player_counts():
            allowed = ", ".join(map(str, self.player_counts()))
            raise TonkError(f"players = {num_players}: these rules are played by {allowed}")

    def _can_meet(self, tier: Tier, hand_size: int) -> bool:
        copies = self.deck.suits * self.packs(MAX_SEATS)
        ranks = [RANKS.index(rank) for rank in self.deck.ranks]
        if tier.all_ranks and sum(copies for rank in ranks if RANKS[rank] in tier.all_ranks) >= hand_size:
            return True
        reachable = [1] + [0] * hand_size  # bit c of entry k: k cards can count c
        values = [self.deck.value(rank) for rank in ranks for _ in range(copies)]
        for value in values + [self.deck.joker_value] * self.deck.jokers:
            for held in range(hand_size, 0, -1):
                reachable[held] |= reachable[held - 1] << value
        counts = set(tier.counts) | set(range(-1 if tier.at_most is None else tier.at_most + 1))
        return any(reachable[hand_size] >> count & 1 for count in counts if count >= 0)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        nested = (
            isinstance(old, Mapping) and isinstance(value, Mapping) and key not in ("hand_size", "caught")
        )
        merged[key] = _merge(old, value) if nested and isinstance(old, Mapping) else value
    return merged


class Preset(BaseModel):
    """A named set of rules.

    Attributes:
        name: the preset's name, or the path it was read from.
        summary: one sentence for lists.
        source: where the variant is described.
        rules: the resolved options.
    """

    model_config = ConfigDict(frozen=True)
    name: str
    summary: str
    source: str
    rules: Rules


def _resolve(data: Mapping[str, Any], where: str, seen: tuple[str, ...]) -> dict[str, Any]:
    options = {key: value for key, value in data.items() if key not in ("base", "summary", "source")}
    base = data.get("base")
    if base is None:
        return options
    if not isinstance(base, str):
        raise TonkError(f"{where}: base = {base!r} is not the name of a preset")
    try:
        path = find_config("rules", base)
    except TonkError as error:
        raise TonkError(f"{where}: base: {error}") from None
    if str(path) in seen:
        raise TonkError(f"{where}: base = {base!r} leads back to itself")
    return _merge(_resolve(read_toml(path), str(path), (*seen, str(path))), options)


def make_rules(data: Mapping[str, Any], where: str = "rules") -> Rules:
    """Returns the rules of a preset's table (``base`` and options).

    Raises:
        TonkError: an unknown option, a bad value or options that clash.
    """
    try:
        return Rules.model_validate(_resolve(data, where, ()))
    except ValidationError as error:
        raise TonkError(f"{where}: {one_line(error, Rules)}") from None


@functools.cache
def _load(path: Path, name: str) -> Preset:
    data = read_toml(path)
    return Preset(
        name=name,
        summary=str(data.get("summary", "")),
        source=str(data.get("source", "")),
        rules=make_rules(data, str(path)),
    )


def load_preset(name: str) -> Preset:
    """Returns a shipped preset by name, or one of your own by the path of its file."""
    return _load(find_config("rules", name), name)


def load_rules(rules: str | Path | Mapping[str, Any] | Rules) -> Rules:
    """Returns the rules meant by a preset's name, a file's path, a table of options or rules themselves.

    Raises:
        TonkError: there is no such preset or file, or it is not valid.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, Mapping):
        return make_rules(rules)
    return load_preset(str(rules)).rules


def preset_names() -> list[str]:
    """Returns the names of the shipped presets, sorted."""
    return list_configs("rules")
