"""Whether an outside program keeps the protocol of docs/BOTS.md, and what is wrong where it does not."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.lines import PROTOCOL
from agents.pipes import Trouble
from agents.process import PREFIX, ProcessAgent
from agents.registry import make
from arena.deals import agent_keys, deck_keys
from arena.play import play_hands
from arena.questions import Question, find_questions
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules, lower

OPPONENT = "expert"
_SEED = 0x626F74  # decks of the check
_PATIENCE = 5  # forfeits after which no more is to be learnt


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: what the program is to do.
        passed: whether it does; None where it is free to, or where it could not be told.
        detail: what was found: one line that is safe to print.
    """

    name: str
    passed: bool | None
    detail: str


@dataclass(frozen=True)
class Report:
    """What a conformance run found.

    Attributes:
        checks: in the order they were made; after one that makes no sense of the rest, they end.
        hands: hands that were played.
        seconds: of each answer to a question, without the starts.
        forfeits: hands, by reason.
    """

    checks: list[Check]
    hands: int
    seconds: list[float]
    forfeits: dict[str, int]

    @property
    def is_ok(self) -> bool:
        """Whether nothing is wrong."""
        return all(check.passed is not False for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as data for JSON."""
        times = self.seconds
        return {
            "protocol": PROTOCOL,
            "ok": self.is_ok,
            "checks": [
                {"check": check.name, "passed": check.passed, "detail": check.detail} for check in self.checks
            ],
            "hands": self.hands,
            "decisions": len(times),
            "seconds": {"median": statistics.median(times), "max": max(times)} if times else None,
            "forfeits": self.forfeits,
        }


class _Watched(ProcessAgent):
    """A program whose answers are timed, and of which the first trouble of each kind is kept."""

    def __init__(self, spec: str, seconds: float) -> None:
        super().__init__(spec, seconds=seconds, first_seconds=2 * seconds, max_forfeits=_PATIENCE)
        self.times: list[float] = []
        self.first: dict[str, str] = {}

    def ask(self, view: np.void, actions: Sequence[int], key: int, hand: int | None) -> int:
        self.greet(int(view["seat"]))
        begun = time.perf_counter()
        action = super().ask(view, actions, key, hand)
        self.times.append(time.perf_counter() - begun)
        return action

    def note(self, trouble: Trouble) -> None:
        super().note(trouble)
        self.first.setdefault(trouble.reason, trouble.detail)


def check_bot(
    spec: str, rules: str = "pagat", players: int = 2, hands: int = 200, seconds: float = 5
) -> Report:
    """Puts a program through a conformance run.

    Args:
        spec: the program, ``cmd:PROGRAM ARGUMENTS``.
        rules: a preset's name, or the path of its file.
        players: seats at the table.
        hands: hands that are played against `OPPONENT`, all at once as in a tournament.
        seconds: the clock of each move; a start has twice as long.

    Raises:
        TonkError: the spec is no program, or rules or a number are not right.
    """
    if not spec.startswith(PREFIX):
        raise TonkError(f"{spec!r} is no outside program: write {PREFIX}PROGRAM ARGUMENTS")
    if hands < 1:
        raise TonkError(f"hands = {hands}: at least 1 is needed")
    if not 0 < seconds < float("inf"):
        raise TonkError(f"seconds = {seconds:g}: a clock of more than no time is needed")
    lowered = lower(rules)
    lowered.rules.check_players(players)
    agent = _Watched(spec, seconds)
    agent.start(lowered, players, _SEED)
    checks: list[Check] = []
    played = 0
    try:
        begun = time.perf_counter()
        try:
            agent.greet(0)
        except Trouble as trouble:
            checks.append(Check("starts and is ready", False, str(trouble)))
        else:
            checks.append(Check("starts and is ready", True, f"after {time.perf_counter() - begun:.2f} s"))
            kinds = find_questions(lowered, players)
            checks += _check_questions(agent, kinds)
            checks += _check_again(agent, kinds)
            checks.append(_check_hands(agent, lowered, players, hands))
            played = hands
            checks.append(_check_stop(agent))
    finally:
        agent.stop()
    return Report(checks, played, agent.times, dict(sorted(agent.forfeits.items())))


def _check_questions(agent: _Watched, found: dict[str, list[Question]]) -> Iterator[Check]:
    for kind, questions in found.items():
        name = f"answers to '{kind}'"
        if not questions:
            yield Check(name, None, "not met: these rules ask it seldom")
            continue
        wrong = []
        for view, actions, key in questions:
            if agent.is_out:
                break
            try:
                agent.ask(view, actions, key, None)
            except Trouble as trouble:
                agent.note(trouble)
                wrong.append(str(trouble))
        if wrong:
            yield Check(name, False, f"{len(wrong)} of {len(questions)} wrong: {wrong[0]}")
        elif agent.is_out:
            yield Check(name, False, "not asked any more: too many forfeits")
        else:
            yield Check(name, True, f"{len(questions)} legal moves of {len(questions)}")


def _check_again(agent: _Watched, found: dict[str, list[Question]]) -> Iterator[Check]:
    """Asks a few questions twice; a program that answers by lots of its own cannot be repeated."""
    asked = [question for questions in found.values() for question in questions]
    differ = 0
    for view, actions, key in asked:
        try:
            if agent.is_out or agent.first:
                return
            differ += agent.ask(view, actions, key, None) != agent.ask(view, actions, key, None)
        except Trouble as trouble:
            agent.note(trouble)
            yield Check("answers when asked again", False, str(trouble))
            return
    text = (
        "always"
        if not differ
        else f"not {differ} times of {len(asked)}: results can't be repeated to the byte"
    )
    yield Check("answers the same question alike", None if differ else True, text)


def _check_hands(agent: _Watched, rules: LoweredRules, players: int, hands: int) -> Check:
    name = f"plays {hands} hands, many at once"
    before, reasons = agent.forfeits.total(), set(agent.first)
    others = [make(OPPONENT) for _ in range(players - 1)]
    for other in others:
        other.start(rules, players, _SEED)
    table = np.arange(players)
    seating = (table - np.arange(hands)[:, None]) % players
    keys = deck_keys(_SEED, 0, hands), agent_keys(_SEED, 0, hands)
    if not agent.is_out:
        play_hands([agent, *others], seating, rules, *keys, np.full(hands, players - 1))
    forfeits = agent.forfeits.total() - before
    if not forfeits and not agent.is_out:
        return Check(name, True, f"{len(agent.times)} answers so far, none wrong")
    told = "; ".join(f"{reason}: {text}" for reason, text in agent.first.items() if reason not in reasons)
    out = ", and is asked no more" if agent.is_out else ""
    return Check(name, False, f"{forfeits} forfeited{out}{f': {told}' if told else ''}")


def _check_stop(agent: _Watched) -> Check:
    name = "ends when told, and leaves nothing behind"
    try:
        if not agent.is_out:
            agent.greet(0)
    except Trouble as trouble:
        return Check(name, False, str(trouble))
    wrong = agent.stop()
    return Check(name, not wrong, ", ".join(dict.fromkeys(wrong)) or "within a second")
