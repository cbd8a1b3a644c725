"""Secondary ratings: other ways to put agents in order, each from a package that may be missing.

Stakes per hand are what counts; these answer other questions. OpenSkill rates placements, whatever the
amounts. Alpha-rank (Omidshafiei et al., 2019) tells which agents a population that keeps copying winners ends
up with, and Nash averaging (Balduzzi et al., 2018) rates against the strongest mixture, so that neither is
changed by adding copies of a weak agent that some exploit better than others.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.significance import judge_results

_INSTALL = "pip install 'tonk[ratings]'"


@dataclass(frozen=True)
class Ratings:
    """One kind of rating.

    Attributes:
        kind: what it is called.
        columns: what the figures of an agent are.
        scores: figures by agent, best first; None where there are none.
        reason: why there are none; otherwise what the figures mean, in a sentence.
    """

    kind: str
    columns: tuple[str, ...]
    scores: dict[str, tuple[float, ...]] | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the ratings as plain data."""
        scores = None if self.scores is None else {name: list(each) for name, each in self.scores.items()}
        return {"kind": self.kind, "columns": list(self.columns), "scores": scores, "reason": self.reason}


def open_skill(games: Iterable[Sequence[tuple[str, float]]]) -> Ratings:
    """Rates agents by their placements (Plackett-Luce, Weng and Lin, 2011).

    Args:
        games: each the agents that met, with what each was paid; the order counts a little, so it must be
            fixed for results that repeat. A game may be a hand, or, with much less noise, all hands of a deal
            that the same agents played in all seatings: `arena.results.Results.games`. An agent that is there
            twice counts by its mean.

    Returns:
        `mu`, `sigma` and their cautious difference `mu - 3 sigma` by agent; no scores without the package.
    """
    kind, columns = "OpenSkill", ("mu", "sigma", "mu − 3 sigma")
    try:
        models = importlib.import_module("openskill.models")
    except ImportError as error:
        return _missing(kind, columns, error)
    model = models.PlackettLuce(tau=0.0)  # agents do not change, so no doubt is added from game to game
    rated: dict[str, Any] = {}
    for game in games:
        payments: dict[str, list[float]] = {}
        for name, payment in game:
            payments.setdefault(name, []).append(payment)
        if len(payments) < 2:
            continue
        teams = [[rated.get(name) or model.rating(name=name)] for name in payments]
        means = [sum(each) / len(each) for each in payments.values()]
        for name, team in zip(payments, model.rate(teams, scores=means), strict=True):
            rated[name] = team[0]
    if not rated:
        return Ratings(kind, columns, None, "no game was played between two agents")
    scores = {name: (each.mu, each.sigma, each.mu - 3 * each.sigma) for name, each in rated.items()}
    return Ratings(kind, columns, _best_first(scores), "from placements alone, whatever the amounts")


def alpha_rank(results: Mapping[str, Any]) -> Ratings:
    """Ranks agents by how often a population that copies winners plays them, under strict selection.

    Strict selection asks only who beats whom, so pairs that are not resolved count as even.

    Args:
        results: as in `results.json`.

    Returns:
        `mass` by agent, 1 in all; no scores without the package, or where a pair did not meet.
    """
    kind, columns = "alpha-rank", ("mass",)
    names, payments = payment_matrix(results, resolved_only=True)
    if payments is None:
        return Ratings(kind, columns, None, _NOT_ALL_MET)
    try:
        alpharank = importlib.import_module("open_spiel.python.egt.alpharank")
    except ImportError as error:
        return _missing(kind, columns, error)
    mass = alpharank.sweep_pi_vs_epsilon([payments])
    scores = {name: (max(0.0, float(each)),) for name, each in zip(names, mass, strict=True)}
    meaning = "share of a population that keeps copying winners; pairs that are not resolved count as even"
    return Ratings(kind, columns, _best_first(scores), meaning)


def nash_averaging(results: Mapping[str, Any]) -> Ratings:
    """Rates agents against the mixture of them that none beats, the most even one where there are several.

    Args:
        results: as in `results.json`.

    Returns:
        `mass` in the mixture and `stakes` per hand against it, by agent; no scores without the packages, or
        where a pair did not meet.
    """
    kind, columns = "Nash averaging", ("mass", "stakes")
    names, payments = payment_matrix(results)
    if payments is None:
        return Ratings(kind, columns, None, _NOT_ALL_MET)
    try:
        pyspiel = importlib.import_module("pyspiel")
        averaging = importlib.import_module("open_spiel.python.algorithms.nash_averaging")
    except ImportError as error:
        return _missing(kind, columns, error)
    game = pyspiel.create_matrix_game(payments.tolist(), (-payments).tolist())
    mixture, stakes = (np.asarray(each).ravel() for each in averaging.nash_averaging(game))
    scores = {
        name: (max(0.0, float(mass)), float(paid))
        for name, mass, paid in zip(names, mixture, stakes, strict=True)
    }
    meaning = "share in the mixture of agents that none beats, and stakes per hand against it"
    # What the solver leaves below its own accuracy must not decide the order.
    best = sorted(scores, key=lambda name: [-round(each, 6) for each in reversed(scores[name])])
    return Ratings(kind, columns, {name: scores[name] for name in best}, meaning)


_NOT_ALL_MET = "some agents did not meet, so there is no payment matrix"


def payment_matrix(
    results: Mapping[str, Any], resolved_only: bool = False
) -> tuple[list[str], npt.NDArray[np.float64] | None]:
    """Returns what each agent wins of each other per hand.

    Args:
        results: as in `results.json`.
        resolved_only: pairs whose difference is not significant count as 0.

    Returns:
        The agents, best first; and `[agents, agents]` float64, in stakes per hand of the row, exactly
        antisymmetric, or None where a pair did not meet or has no result.
    """
    names = [str(each["agent"]) for each in results["agents"]]
    place = {name: number for number, name in enumerate(names)}
    payments = np.zeros((len(names), len(names)))
    pairs = results["pairs"]
    for pair, found in zip(pairs, judge_results(results), strict=True):
        if pair["stakes_per_hand"] is None:
            return names, None
        if found.is_resolved or not resolved_only:
            a, b = place[pair["a"]], place[pair["b"]]
            payments[a, b], payments[b, a] = pair["stakes_per_hand"], -pair["stakes_per_hand"]
    met = {frozenset((pair["a"], pair["b"])) for pair in pairs}
    return names, payments if len(met) == len(names) * (len(names) - 1) // 2 else None


def _missing(kind: str, columns: tuple[str, ...], error: ImportError) -> Ratings:
    return Ratings(kind, columns, None, f"needs {error.name or error}, which is not installed: {_INSTALL}")


def _best_first(scores: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """The same, by the last figure; agents that are even stay in order."""
    return dict(sorted(scores.items(), key=lambda each: -each[1][-1]))
