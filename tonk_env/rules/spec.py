"""The options of Tonk: one frozen model that declares each house rule once.

Every option has a type, a default, a range, a meaning (``description``) and where it comes from (``source``,
see docs/RULES.md). `load_rules` reads a preset or a file; `tonk_env.rules.lower` turns the model into tables.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from tonk_env.cards import RANKS
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_HAND, MAX_SEATS, MAX_TIERS, MAX_TURN_LIMIT
from tonk_env.resources import find_config, list_configs, read_toml

Pays = Annotated[float, Field(ge=0, le=100)]
MAX_VALUE = 39


def _ranks_in_order(ranks: str) -> str:
    if not ranks or "".join(rank for rank in RANKS if rank in ranks) != ranks:
        raise ValueError(f"ranks must be some of {RANKS}, each once, in that order")
    return ranks


Ranks = Annotated[str, AfterValidator(_ranks_in_order)]


def _option(default: Any, meaning: str, source: str, **limits: Any) -> Any:
    return Field(default, description=meaning, json_schema_extra={"source": source}, **limits)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class Deck(_Section):
    """What the pack holds and what its cards count."""

    ranks: Ranks = _option(
        RANKS, "ranks in the pack, in run order: a run passes over a rank left out", "13, 20"
    )
    suits: int = _option(4, "suits in the pack, of c d h s; fewer for toy games", "-", ge=1, le=4)
    packs: Literal[1, 2, "auto"] = _option(
        1, "packs shuffled together; auto: two from five players on", "seed 001"
    )
    values: dict[str, int] = _option(
        {}, "points of ranks that differ from A 1, 2-10 face value, J Q K 10", "18, 19; seed 001"
    )

    @model_validator(mode="after")
    def _check(self) -> Deck:
        for rank, value in self.values.items():
            if len(rank) != 1 or rank not in RANKS:
                raise ValueError(f"values: {rank!r} is not a rank of {RANKS}")
            if not 0 <= value <= MAX_VALUE:
                raise ValueError(f"values: {rank} = {value} is not within 0 to {MAX_VALUE}")
        return self

    def value(self, rank: int) -> int:
        """Returns the points of a rank (0 = ace … 12 = king)."""
        return self.values.get(RANKS[rank], min(rank + 1, 10))


class Deal(_Section):
    """What is dealt."""

    hand_size: (
        Annotated[int, Field(ge=1, le=MAX_HAND)] | dict[int, Annotated[int, Field(ge=1, le=MAX_HAND)]]
    ) = _option(5, "cards dealt to each player; or a table by number of players", "20, 24; seeds 001, 004")
    upcard: bool = _option(True, "turn a card up to start the discard pile", "1")

    @model_validator(mode="after")
    def _check(self) -> Deal:
        if isinstance(self.hand_size, dict):
            if not self.hand_size or any(not 2 <= seats <= MAX_SEATS for seats in self.hand_size):
                raise ValueError(f"hand_size: a table goes by number of players, 2 to {MAX_SEATS}")
        return self


class Spreads(_Section):
    """Sets and runs."""

    ace: Literal["low", "low_or_high", "wrap"] = _option(
        "low", "low: A-2-3 only; low_or_high: Q-K-A too; wrap: K-A-2 too", "seed 001"
    )


class Tier(_Section):
    """Dealt hands that win at once: those that meet any one of the conditions given."""

    counts: tuple[int, ...] = _option((), "exact counts", "9-16")
    at_most: int | None = _option(None, "a count no higher than this", "9-16", ge=0)
    all_ranks: Ranks | None = _option(None, "only cards of these ranks", "14, 24")
    pays: Pays = _option(2.0, "stakes from each other player", "9-16")
    lowest_first: bool = _option(False, "within the tier a lower count is better", "9-12")

    @model_validator(mode="after")
    def _check(self) -> Tier:
        if not self.counts and self.at_most is None and self.all_ranks is None:
            raise ValueError("a tier needs one of counts, at_most, all_ranks")
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
                f"{value!r} is not a caught table: {', '.join(CAUGHT_TABLES)}, or a table of your own"
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


class StockOut(_Section):
    """A turn ends and the stock is empty."""

    result: Literal["lowest_wins", "void", "must_drop"] = _option(
        "lowest_wins", "lowest count wins, nobody pays, or the next player must drop", "5; seed 001"
    )
    tie: Literal["void", "share", "nearest_left"] = _option("void", "several lowest counts", "14; seed 004")


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

    @model_validator(mode="after")
    def _clashes(self) -> Rules:
        if not self.drop.allowed and self.stock_out.result == "must_drop":
            raise ValueError("drop.allowed = false clashes with stock_out.result = 'must_drop'")
        if not self.player_counts():
            raise ValueError(
                f"deal.hand_size: no number of players from 2 to {MAX_SEATS} leaves a stock card "
                f"of {self.deck_size(MAX_SEATS)}"
            )
        for index, tier in enumerate(self.instant_wins.tiers):
            if not any(self._can_meet(tier, self.hand_size(seats)) for seats in self.player_counts()):
                raise ValueError(f"instant_wins.tiers[{index}]: no dealt hand can meet it")
        return self

    def packs(self, num_players: int) -> int:
        """Returns the packs in use for that many players."""
        if self.deck.packs == "auto":
            return 2 if num_players >= 5 else 1
        return self.deck.packs

    def deck_size(self, num_players: int) -> int:
        """Returns the cards in the deck for that many players."""
        return len(self.deck.ranks) * self.deck.suits * self.packs(num_players)

    def hand_size(self, num_players: int) -> int:
        """Returns the cards dealt to each of that many players (0 where a table leaves the number out)."""
        size = self.deal.hand_size
        return size.get(num_players, 0) if isinstance(size, dict) else size

    def player_counts(self) -> tuple[int, ...]:
        """Returns the numbers of players these rules can be played by."""
        return tuple(
            seats
            for seats in range(2, MAX_SEATS + 1)
            if 0 < self.hand_size(seats) * seats + self.deal.upcard < self.deck_size(seats)
            and self.hand_size(seats)
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
        for rank in ranks:
            for _ in range(copies):
                for held in range(hand_size, 0, -1):
                    reachable[held] |= reachable[held - 1] << self.deck.value(rank)
        counts = set(tier.counts) | set(range(-1 if tier.at_most is None else tier.at_most + 1))
        return any(reachable[hand_size] >> count & 1 for count in counts if count >= 0)


def _one_line(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(
        str(part) for part in first["loc"] if not str(part).startswith(("function-", "constrained-"))
    )
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return f"{where}: no such option"
    given = "" if isinstance(first["input"], (dict, Rules, BaseModel)) else f" = {first['input']!r}"
    return f"{where}{given}: {message}" if where else message


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
    path = find_config("rules", base)
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
        raise TonkError(f"{where}: {_one_line(error)}") from None


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
