"""How exploitable an agent is, as a figure: exact where the game can be expanded, else a lower bound."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.base import Agent
from agents.neural.checkpoint import replace_file
from agents.styles import PREFIX
from arena.anchors import evaluate
from arena.blocks import as_agent, check_size
from tonk_env.errors import TonkError
from tonk_env.rules import lower
from train.best_response.learn import learn
from train.best_response.search import Told, search
from train.best_response.table import FINAL, Budget, Earnings, Response, Table, check_sound, stream_seed
from train.cfr.policies import exact_exploitability
from train.folder import write_json

METHODS = ("auto", "exact", "search", "ppo")
MINUTES = 5.0
"""The budget where none is given."""
RESPONSE, REPORT = "response", "exploit.json"
_SEARCH_SHARE = 0.5
"""Of the budget, for the search where PPO follows; what it leaves is PPO's."""


@dataclass(frozen=True)
class Exploitability:
    """What the best response to an agent wins of it per hand, or at least how much.

    The responder sits once in each seat, and the agent in all others. With two seats and payments that sum to
    zero this is the exploitability of a game between two of the agent (half of NashConv).

    Attributes:
        agent: its spec string.
        rules: the preset's name or the path.
        rules_fingerprint: hash of the rules.
        players: seats at the table.
        kind: `exact`, or `lower_bound`: what the best response that was found wins.
        stakes_per_hand: the figure.
        ci95: its 95% interval; twice the figure where it is exact.
        method: what found the response: `exact`, `search` or `ppo`.
        response: the response in words.
        response_agent: its spec string, where it was kept.
        budget: what looking was allowed, and what it took.
        seed: of everything random.
    """

    agent: str
    rules: str
    rules_fingerprint: str
    players: int
    kind: str
    stakes_per_hand: float
    ci95: tuple[float, float]
    method: str
    response: str
    response_agent: str | None
    budget: dict[str, Any]
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Returns the report's JSON."""
        return {"format": "tonk-exploit/1", **vars(self), "ci95": list(self.ci95)}


def exploit(
    agent: str | Agent,
    rules: str = "pagat",
    players: int = 2,
    method: str = "auto",
    minutes: float | None = None,
    decisions: int | None = None,
    deals: int = 20_000,
    seed: int = 0,
    out: str | Path | None = None,
    tell: Told = lambda what, used: None,
) -> Exploitability:
    """Measures how exploitable an agent is.

    The response is chosen on some decks and measured on others, so that the figure owes nothing to the
    choice.

    Args:
        agent: a spec string, or an agent.
        rules: a preset's name, or the path of its file.
        players: seats at a table.
        method: `exact`: the game is expanded; `search`: what ships, and a climb over the numbers of a rule
            bot; `ppo`: a network is trained; `auto`: exact where that can be, else search and then PPO.
        minutes: budget; 5 where none is given.
        decisions: budget, of all seats, in place of minutes: equal seeds then give equal results.
        deals: decks of the final measurement, played once from each seat; a quarter as many are for choosing.
        seed: of decks and of learning.
        out: a folder for the response, as an agent, and the report.
        tell: told what is being done, and the share of the budget that is used.

    Raises:
        TonkError: no such agent, rules or method, a number out of range, an agent that does not play these
            rules or breaks down, a folder that cannot be written, or rules that are too large for `exact`.
    """
    if method not in METHODS:
        raise TonkError(f"method = {method}: it is one of {', '.join(METHODS)}")
    if minutes is None and decisions is None:
        minutes = MINUTES
    lowered, budget = lower(rules), Budget(minutes, decisions)
    check_size(lowered, players, deals, seed)
    opponent = as_agent(agent)
    opponent.start(lowered, players, seed)
    folder = None if out is None else _folder(Path(out))
    table = Table(opponent, rules, lowered, players, seed, deals, budget)
    with warnings.catch_warnings():
        # Networks trained on other rules are welcome here; that they were is no news.
        warnings.simplefilter("ignore")
        try:
            found = _exact(table, method, tell) or _bound(table, method, tell, folder)
        finally:
            opponent.end(np.zeros(0))
    if folder is not None:
        write_json(folder / REPORT, found.to_dict())
    return found


def _exact(table: Table, method: str, tell: Told) -> Exploitability | None:
    """Expands the game; None where that is not asked for, or only if it can be, and it cannot."""
    if method not in ("auto", "exact"):
        return None
    tell("expanding the game", 0.0)
    try:
        figure = exact_exploitability(table.agent, table.rules, table.players)
    except TonkError:
        if method == "exact":
            raise
        return None
    return Exploitability(
        agent=table.agent.name,
        rules=table.rules_name,
        rules_fingerprint=table.rules.fingerprint,
        players=table.players,
        kind="exact",
        stakes_per_hand=figure,
        ci95=(figure, figure),
        method="exact",
        response="the best response",
        response_agent=None,
        budget={},
        seed=table.seed,
    )


def _bound(table: Table, method: str, tell: Told, folder: Path | None) -> Exploitability:
    """Finds a response, and measures it on decks that it was not chosen by."""
    best: tuple[float, str, Response] | None = None
    tried = 0
    for by, response, earned in _responses(table, method, tell):
        tried += 1
        if best is None or earned.mean() > best[0]:
            best = float(earned.mean()), by, response
    assert best is not None, "every method yields a response"
    _, by, response = best
    tell(f"measuring {response.source}", 1.0)
    seed = stream_seed(table.seed, FINAL)
    (final,) = evaluate(response.agent, [table.agent], table.rules, table.players, table.deals, seed)
    check_sound(table.agent)
    mean, half = final.stakes_per_hand, final.ci_half
    return Exploitability(
        agent=table.agent.name,
        rules=table.rules_name,
        rules_fingerprint=table.rules.fingerprint,
        players=table.players,
        kind="lower_bound",
        stakes_per_hand=mean,
        ci95=(mean - half, mean + half),
        method=by,
        response=response.source,
        response_agent=None if folder is None else _keep(response, folder),
        budget={
            "minutes": table.budget.minutes,
            "decisions": table.budget.decisions,
            "decisions_spent": table.budget.spent,
            "responses": tried,
            "choosing_deals": table.choosing_deals,
            "deals": table.deals,
        },
        seed=table.seed,
    )


def _responses(table: Table, method: str, tell: Told) -> Iterator[tuple[str, Response, Earnings]]:
    """Yields what is found: by which method, the response, and its earnings on the decks for choosing."""
    if method != "ppo":
        until = _SEARCH_SHARE if method == "auto" else 1.0
        yield from (("search", *found) for found in search(table, until, tell))
    if method == "ppo" or (method == "auto" and table.budget.used < 1):
        yield from (("ppo", *found) for found in learn(table, tell))


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TonkError(f"{path}: cannot write there: {error.strerror or error}") from None
    return path


def _keep(response: Response, folder: Path) -> str:
    """Writes a response whole or not at all, and returns the spec string it plays under."""
    path = folder / f"{RESPONSE}{response.suffix}"
    made = path.with_name(f".{path.name}.part")
    made.write_bytes(response.data)
    replace_file(path, made)
    if response.suffix == ".toml":
        return f"{PREFIX}{path}"
    return f"{path}:greedy" if getattr(response.agent, "greedy", False) else str(path)
