"""What a tournament found, as objects and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tonk_env
from arena.decisive import Decisive
from arena.placements import Game
from arena.significance import intransitive_triples
from arena.statistics import Estimate
from arena.store import RESULTS, write_whole
from arena.tally import Tally
from arena.verdicts import judge
from tonk_env.errors import TonkError
from tonk_env.limits import ENGINE_VERSION
from tonk_env.rules import LoweredRules

RESULTS_FORMAT = "tonk-results/1"


@dataclass(frozen=True)
class EndingShare:
    """One way in which hands ended.

    Attributes:
        share: of the agent's hands.
        stakes_per_hand: the agent's mean payment in them.
    """

    share: float
    stakes_per_hand: float


@dataclass(frozen=True)
class AgentResult:
    """How one agent did.

    Attributes:
        agent: its spec string.
        policy: `sampled`, `greedy` or `deterministic`.
        hands: hands played; one in which it held two seats counts twice.
        stakes: what it was paid in all.
        per_hand: stakes per hand, over all tables it sat at.
        decisions_per_hand: mean decisions of its hands, of all seats together.
        endings: by ending, then by who brought it about (`own`, `others`, `nobody`).
        seats: stakes per hand by seat; seat 1 moves first.
        forfeits: hands that it forfeited, those that are left out since included.
        withdrawn: whether it forfeited too many: it is measured by the blocks that it finished, everybody
            else by hands without it.
        adjusted: stakes per hand with luck taken out, where that was asked for.
    """

    agent: str
    policy: str
    hands: int
    stakes: float
    per_hand: Estimate
    decisions_per_hand: float
    endings: dict[str, dict[str, EndingShare]]
    seats: tuple[Estimate, ...]
    forfeits: int = 0
    withdrawn: bool = False
    adjusted: Estimate | None = None

    @property
    def best(self) -> Estimate:
        """The estimate that ranks: the adjusted one where there is one."""
        return self.adjusted or self.per_hand

    def to_dict(self) -> dict[str, Any]:
        """Returns the agent's entry of the JSON."""
        return {
            "agent": self.agent,
            "policy": self.policy,
            "hands": self.hands,
            "stakes": self.stakes,
            **_estimate_to_dict(self.per_hand),
            "adjusted": _adjusted_to_dict(self.adjusted, self.per_hand),
            "forfeits": self.forfeits,
            "withdrawn": self.withdrawn,
            "decisions_per_hand": _number(self.decisions_per_hand),
            "endings": {
                ending: {
                    who: {"share": each.share, "stakes_per_hand": each.stakes_per_hand}
                    for who, each in by_whom.items()
                }
                for ending, by_whom in self.endings.items()
            },
            "seats": [
                {"seat": number, "hands": self.hands // len(self.seats), **_estimate_to_dict(each)}
                for number, each in enumerate(self.seats, 1)
            ],
        }


@dataclass(frozen=True)
class PairResult:
    """How two agents did in the hands that both sat in.

    Attributes:
        a: the first agent's spec string.
        b: the second's.
        hands: how many.
        per_hand: half of a's payment less b's. With two seats this is what a won of b; with more, what it was
            paid beyond the mean of the two.
        p_holm: two-sided p-value of a difference, adjusted for the number of pairs.
        deals_needed: further deals that would resolve it; None where it is resolved, or nothing would.
        adjusted: the same as `per_hand` with luck taken out, where that was asked for: p-value and deals are
            then by this.
    """

    a: str
    b: str
    hands: int
    per_hand: Estimate
    p_holm: float = 1.0
    deals_needed: int | None = None
    adjusted: Estimate | None = None

    @property
    def best(self) -> Estimate:
        """The estimate that decides: the adjusted one where there is one."""
        return self.adjusted or self.per_hand

    def reversed(self) -> PairResult:
        """Returns the result of b against a."""
        adjusted = None if self.adjusted is None else self.adjusted.reversed()
        return replace(self, a=self.b, b=self.a, per_hand=self.per_hand.reversed(), adjusted=adjusted)

    def to_dict(self) -> dict[str, Any]:
        """Returns the pair's entry of the JSON."""
        return {
            "a": self.a,
            "b": self.b,
            "hands": self.hands,
            **_estimate_to_dict(self.per_hand),
            "adjusted": _adjusted_to_dict(self.adjusted, self.per_hand),
            "p_holm": self.p_holm,
            "deals_needed": self.deals_needed,
        }


@dataclass(frozen=True)
class Effect:
    """What one agent's company does to another: with three seats and more.

    Attributes:
        agent: whose payments these are.
        other: who sits at its table, or does not.
        per_hand: the agent's stakes per hand where the other sits at its table, less those where it does not.
    """

    agent: str
    other: str
    per_hand: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Returns the effect's entry of the JSON."""
        return {"agent": self.agent, "other": self.other, **_estimate_to_dict(self.per_hand)}


@dataclass(frozen=True)
class Point:
    """The estimates as they stood after some deals: (mean, half-width) by agent."""

    deals: int
    agents: dict[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """Returns the point's entry of the JSON."""
        return {
            "deals": self.deals,
            "agents": {name: [each.mean, each.half] for name, each in self.agents.items()},
        }


@dataclass(frozen=True)
class Results:
    """What a tournament found.

    Attributes:
        rules: the preset's name or the path.
        rules_fingerprint: hash of the rules.
        players: seats at a table.
        match_hands: hands of a match, of which a deal has one for each seating; 1: hands are single.
        seed: of decks, orders and lots.
        schedule: who met whom.
        until: the half-width that was played for, if any.
        luck: rollouts by which luck was taken out; 0: it was not.
        deals: decks, each played by every group in every seating.
        blocks_left_out: deals that a withdrawn agent did not finish.
        hands: hands counted in all.
        agents: best first; those withdrawn last.
        pairs: those that met, each once, in the order of `agents`.
        effects: with three seats and more, what each agent's company does to each other.
        triples: agents a, b and c of which a beats b, b beats c and c beats a, all resolved.
        convergence: the estimates on the way, at about 20 points.
        games: placements in the first deals, for ratings; not in the JSON.
        decisive: deals in which it mattered most who sat where; not in the JSON.
    """

    rules: str
    rules_fingerprint: str
    players: int
    match_hands: int
    seed: int
    schedule: str
    until: float | None
    luck: int
    deals: int
    blocks_left_out: int
    hands: int
    agents: tuple[AgentResult, ...]
    pairs: tuple[PairResult, ...]
    effects: tuple[Effect, ...]
    triples: tuple[tuple[str, str, str], ...]
    convergence: tuple[Point, ...]
    games: tuple[Game, ...] = ()
    decisive: tuple[Decisive, ...] = ()

    def pair(self, a: str, b: str) -> PairResult:
        """Returns the result of a against b, whichever way round it is kept.

        Raises:
            TonkError: they did not meet.
        """
        for each in self.pairs:
            if (each.a, each.b) == (a, b):
                return each
            if (each.a, each.b) == (b, a):
                return each.reversed()
        raise TonkError(f"{a} and {b} did not meet in this tournament")

    def to_dict(self) -> dict[str, Any]:
        """Returns the results as plain data. No times are in it: equal seeds give equal bytes."""
        return {
            "format": RESULTS_FORMAT,
            "rules": self.rules,
            "rules_fingerprint": self.rules_fingerprint,
            "players": self.players,
            "match_hands": self.match_hands,
            "seed": self.seed,
            "schedule": self.schedule,
            "until": self.until,
            "luck": self.luck,
            "deals": self.deals,
            "blocks_left_out": self.blocks_left_out,
            "hands": self.hands,
            "agents": [each.to_dict() for each in self.agents],
            "pairs": [each.to_dict() for each in self.pairs],
            "effects": [each.to_dict() for each in self.effects],
            "triples": [list(each) for each in self.triples],
            "convergence": [each.to_dict() for each in self.convergence],
            "versions": {"tonk": tonk_env.__version__, "engine": ENGINE_VERSION},
        }

    def to_json(self) -> str:
        """Returns the results as JSON text that ends in a newline."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def write(self, folder: str | Path) -> Path:
        """Writes `results.json` into a folder, made if need be, whole or not at all; returns the file.

        Raises:
            TonkError: it cannot be written.
        """
        target = Path(folder) / RESULTS
        write_whole(target, self.to_json())
        return target


def deciding(results: Mapping[str, Any]) -> dict[str, Any]:
    """Returns results as in `results.json`, with the estimates that decide in the place of the plain ones.

    Where luck was taken out these are the adjusted ones, and the plain ones become `paid`; else nothing
    changes.
    """
    figures = ("stakes_per_hand", "ci95")

    def decides(entry: Mapping[str, Any]) -> Mapping[str, Any]:
        adjusted = entry.get("adjusted")
        if not adjusted:
            return entry
        paid = {key: entry[key] for key in figures}
        return {**entry, **{key: adjusted[key] for key in figures}, "adjusted": None, "paid": paid}

    return {**results, **{key: [decides(entry) for entry in results[key]] for key in ("agents", "pairs")}}


@dataclass(frozen=True)
class Setting:
    """What a tournament was, as far as its results tell.

    Attributes:
        rules: what the rules are called.
        lowered: the rules.
        names: of the agents, by number.
        groups: who meets whom, by these numbers.
        policies: what each makes of its policy.
        players, match_hands, seed, schedule, until, luck: as in `Results`.
    """

    rules: str
    lowered: LoweredRules
    names: Sequence[str]
    groups: Sequence[tuple[int, ...]]
    policies: Sequence[str]
    players: int
    match_hands: int
    seed: int
    schedule: str
    until: float | None
    luck: int = 0


def collect(
    tally: Tally,
    setting: Setting,
    forfeits: Sequence[int],
    withdrawn: frozenset[int],
    blocks_left_out: int,
    convergence: Sequence[Point],
    adjusted: Tally | None = None,
) -> Results:
    """Returns the results of a tournament that has been counted.

    Args:
        tally: what was counted; agents are numbered as in `setting.names`.
        setting: what was played.
        forfeits: by agent.
        withdrawn: agents that were.
        blocks_left_out: deals that one of them did not finish.
        convergence: the estimates on the way.
        adjusted: the same hands with luck taken out of payments, by which agents are then ranked and judged.
    """
    names = setting.names
    deciding = adjusted or tally
    estimates = [deciding.per_hand(number) for number in range(len(names))]

    def place_of(number: int) -> tuple[bool, bool, float]:
        mean = estimates[number].mean
        return number in withdrawn, math.isnan(mean), 0.0 if math.isnan(mean) else -mean

    ranking = sorted(range(len(names)), key=place_of)
    agents = tuple(
        AgentResult(
            agent=names[number],
            policy=setting.policies[number],
            hands=tally.hands(number),
            stakes=tally.stakes(number),
            per_hand=tally.per_hand(number),
            decisions_per_hand=tally.decisions_per_hand(number),
            endings={
                ending: {who: EndingShare(n / tally.hands(number), mean) for who, (n, mean) in each.items()}
                for ending, each in tally.endings(number).items()
            },
            seats=tuple(tally.per_hand_in_seat(number, seat) for seat in range(setting.players)),
            forfeits=forfeits[number],
            withdrawn=number in withdrawn,
            adjusted=None if adjusted is None else adjusted.per_hand(number),
        )
        for number in ranking
    )
    place = {number: at for at, number in enumerate(ranking)}
    pairs = _pairs(tally, adjusted, names, place)
    effects = sorted(deciding.effects(), key=lambda each: (place[each[0]], place[each[1]]))
    return Results(
        rules=setting.rules,
        rules_fingerprint=setting.lowered.fingerprint,
        players=setting.players,
        match_hands=setting.match_hands,
        seed=setting.seed,
        schedule=setting.schedule,
        until=setting.until,
        luck=setting.luck,
        deals=tally.blocks,
        blocks_left_out=blocks_left_out,
        hands=tally.all_hands,
        agents=agents,
        pairs=pairs,
        effects=tuple(Effect(names[a], names[b], estimate) for a, b, estimate in effects),
        triples=tuple(intransitive_triples(each.to_dict() for each in pairs)),
        convergence=tuple(convergence),
    )


def _pairs(
    tally: Tally, adjusted: Tally | None, names: Sequence[str], place: dict[int, int]
) -> tuple[PairResult, ...]:
    """The pairs by place of the better and then of the other, the better first."""
    numbers, deciding = range(len(tally.pairs)), adjusted or tally
    verdicts = judge([(deciding.pair_per_hand(number), tally.pair_blocks(number)) for number in numbers])
    found = []
    for number, (a, b) in enumerate(tally.pairs):
        verdict = verdicts[number]
        pair = PairResult(
            names[a],
            names[b],
            tally.pair_hands(number),
            tally.pair_per_hand(number),
            verdict.p_holm,
            verdict.deals_needed,
            None if adjusted is None else adjusted.pair_per_hand(number),
        )
        better, other = sorted((place[a], place[b]))
        found.append((better, other, pair if place[a] == better else pair.reversed()))
    return tuple(pair for *_, pair in sorted(found, key=lambda each: each[:2]))


def _number(number: float) -> float | None:
    """A number as JSON has it: NaN, where there was nothing to take it from, becomes null."""
    return None if math.isnan(number) else number


def _adjusted_to_dict(adjusted: Estimate | None, plain: Estimate) -> dict[str, Any] | None:
    """An estimate without luck, and how wide its interval is beside that of the payments."""
    if adjusted is None:
        return None
    width = adjusted.half / plain.half if plain.half else math.nan
    return {**_estimate_to_dict(adjusted), "width": _number(width)}


def _estimate_to_dict(estimate: Estimate) -> dict[str, Any]:
    has_interval = not math.isnan(estimate.half)
    return {
        "stakes_per_hand": _number(estimate.mean),
        "ci95": list(estimate.ci95) if has_interval else None,
    }
