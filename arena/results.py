"""What a tournament found, as objects and as JSON."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tonk_env
from arena.statistics import Estimate, Tally
from tonk_env.errors import TonkError
from tonk_env.limits import ENGINE_VERSION
from tonk_env.rules import LoweredRules

RESULTS_FORMAT = "tonk-results/1"
FILE_NAME = "results.json"


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
    """

    agent: str
    policy: str
    hands: int
    stakes: float
    per_hand: Estimate
    decisions_per_hand: float
    endings: dict[str, dict[str, EndingShare]]
    seats: tuple[Estimate, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns the agent's entry of the JSON."""
        return {
            "agent": self.agent,
            "policy": self.policy,
            "hands": self.hands,
            "stakes": self.stakes,
            **_estimate_to_dict(self.per_hand),
            "decisions_per_hand": self.decisions_per_hand,
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
    """

    a: str
    b: str
    hands: int
    per_hand: Estimate

    def reversed(self) -> PairResult:
        """Returns the result of b against a."""
        return PairResult(self.b, self.a, self.hands, self.per_hand.reversed())

    def to_dict(self) -> dict[str, Any]:
        """Returns the pair's entry of the JSON."""
        return {"a": self.a, "b": self.b, "hands": self.hands, **_estimate_to_dict(self.per_hand)}


@dataclass(frozen=True)
class Results:
    """What a tournament found.

    Attributes:
        rules: the preset's name or the path.
        rules_fingerprint: hash of the rules.
        players: seats at a table.
        seed: of decks, orders and lots.
        deals: decks, each played by every group in every seating.
        hands: hands played in all.
        agents: best first.
        pairs: those that met, each once, in the order of `agents`.
    """

    rules: str
    rules_fingerprint: str
    players: int
    seed: int
    deals: int
    hands: int
    agents: tuple[AgentResult, ...]
    pairs: tuple[PairResult, ...]

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
            "seed": self.seed,
            "deals": self.deals,
            "hands": self.hands,
            "agents": [each.to_dict() for each in self.agents],
            "pairs": [each.to_dict() for each in self.pairs],
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
        target = Path(folder) / FILE_NAME
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{FILE_NAME}.")
            try:
                with open(descriptor, "w", encoding="utf-8", newline="\n") as stream:
                    # A draft is private to its writer; the file that takes its place is as open as any other.
                    os.chmod(draft, 0o644)
                    stream.write(self.to_json())
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(draft, target)
            except BaseException:
                os.unlink(draft)
                raise
        except OSError as error:
            raise TonkError(f"{target}: cannot be written: {error.strerror or error}") from None
        return target


def collect(
    tally: Tally,
    names: list[str],
    policies: list[str],
    rules_name: str,
    rules: LoweredRules,
    players: int,
    seed: int,
    hands: int,
) -> Results:
    """Returns the results of a tournament that has been counted.

    Args:
        tally: what was counted; agents are numbered as in `names`.
        names: spec strings.
        policies: what each agent does with its policy.
        rules_name: what the rules are called.
        rules: the rules.
        players: seats at a table.
        seed: of the tournament.
        hands: hands played in all.
    """
    estimates = [tally.per_hand(number) for number in range(len(names))]
    ranking = sorted(range(len(names)), key=lambda number: -estimates[number].mean)
    agents = tuple(
        AgentResult(
            agent=names[number],
            policy=policies[number],
            hands=tally.hands(number),
            stakes=tally.stakes(number),
            per_hand=estimates[number],
            decisions_per_hand=tally.decisions_per_hand(number),
            endings={
                ending: {who: EndingShare(n / tally.hands(number), mean) for who, (n, mean) in each.items()}
                for ending, each in tally.endings(number).items()
            },
            seats=tuple(tally.per_hand_in_seat(number, seat) for seat in range(players)),
        )
        for number in ranking
    )
    place = {number: at for at, number in enumerate(ranking)}
    pairs = []
    for index, (a, b) in enumerate(tally.pairs):
        found = PairResult(names[a], names[b], tally.pair_hands(index), tally.pair_per_hand(index))
        if place[a] > place[b]:
            found = found.reversed()
        pairs.append((min(place[a], place[b]), max(place[a], place[b]), found))
    pairs.sort(key=lambda each: each[:2])
    return Results(
        rules=rules_name,
        rules_fingerprint=rules.fingerprint,
        players=players,
        seed=seed,
        deals=tally.blocks,
        hands=hands,
        agents=agents,
        pairs=tuple(found for _, _, found in pairs),
    )


def _estimate_to_dict(estimate: Estimate) -> dict[str, Any]:
    return {"stakes_per_hand": estimate.mean, "ci95": list(estimate.ci95)}
