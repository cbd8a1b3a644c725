"""Macro moves: the few moves a table of strategies chooses between, each standing for one legal action.

When drawing: drop, stock, take. When playing: lay or hit, or one of a few kinds of discard. Whatever else is
asked (targets, slaps, widows, claims) is answered as the rule bots do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.bot import choose_discard, choose_meld, choose_rows, gain_of_taking, wants_swap
from tonk_env._jit import jit
from tonk_env.engine.state import DRAW, PLAY
from tonk_env.rules.lower import CLAIM, DISCARD, DROP, STOCK

MAX_DISCARDS = 4
NUM_MOVES = 1 + MAX_DISCARDS
"""Most macro moves of a decision."""
MOVE_DROP, MOVE_STOCK, MOVE_TAKE = range(3)
"""Places of the moves when drawing."""
MELD, FIRST_DISCARD = 0, 1
"""Places of the moves when playing; kinds of discard follow the first."""
NO_MOVE = -1
FIRST_ROW: int = np.int64(0)  # type: ignore[assignment]
"""A row of scratch space. For a plain 0 Numba would compile all that is called with it once more."""


@jit
def offer(
    views: Any,
    j: int,
    legal: Any,
    num_legal: int,
    rules: Any,
    plan: Any,
    styles: Any,
    tools: Any,
    discards: Any,
    moves: Any,
    row: int,
) -> int:
    """Lists the macro moves of a decision.

    Args:
        views: `[N]` VIEW_DTYPE.
        j: which view.
        legal: `[N, max_legal]` int16, ascending.
        num_legal: legal actions of row j.
        rules: `[1]` RULES_DTYPE.
        plan, styles: of `Abstraction.compile`.
        tools: `[1]` TOOLS_DTYPE.
        discards: `[N, max_legal]` int16, scratch space.
        moves: `[M, NUM_MOVES]` int64; row `row` is overwritten with the action that each move stands for, or
            NO_MOVE.
        row: which row.

    Returns:
        How many there are; 0 where the decision is none of these kinds.
    """
    for move in range(NUM_MOVES):
        moves[row, move] = NO_MOVE
    if views[j]["phase"] == DRAW:
        return _offer_draws(views, j, legal, num_legal, rules, styles, tools, moves, row)
    if views[j]["phase"] != PLAY:
        return 0
    found, first, count = 0, int(rules[0]["kind_first"][DISCARD]), 0
    if legal[j, 0] < first:
        moves[row, MELD] = choose_meld(views, j, legal, num_legal, rules, tools)
        found = 1
    for at in range(num_legal):
        if legal[j, at] >= first:
            discards[j, count] = legal[j, at]
            count += 1
    if count == 0:
        return found
    for kind in range(plan[0]["num_discards"]):
        action = choose_discard(views, j, discards, count, rules, styles[kind : kind + 1], tools)
        is_new = True
        for before in range(kind):
            is_new = is_new and moves[row, FIRST_DISCARD + before] != action
        if is_new:
            moves[row, FIRST_DISCARD + kind] = action
            found += 1
    return found


@jit
def _offer_draws(
    views: Any,
    j: int,
    legal: Any,
    num_legal: int,
    rules: Any,
    styles: Any,
    tools: Any,
    moves: Any,
    row: int,
) -> int:
    kinds = rules[0]["kind_first"]
    if legal[j, num_legal - 1] == kinds[CLAIM]:
        return 0
    found, take = 0, NO_MOVE
    for at in range(num_legal):
        action = int(legal[j, at])
        if action == kinds[DROP]:
            moves[row, MOVE_DROP] = action
            found += 1
        elif action == kinds[STOCK]:
            moves[row, MOVE_STOCK] = action
            found += 1
        else:
            take = action
    # A discard that is of no use is taken only where nothing else can be drawn.
    if take >= 0 and (
        moves[row, MOVE_STOCK] < 0
        or gain_of_taking(views, j, rules, tools) > 0
        or wants_swap(views, j, rules, styles, tools)
    ):
        moves[row, MOVE_TAKE] = take
        found += 1
    return found


@jit
def follow_rule(
    views: Any, legal: Any, num_legal: Any, rules: Any, styles: Any, tools: Any, actions: Any
) -> None:
    """Chooses as a rule bot does, a kernel of its own for `choose_rows`; arguments are those."""
    choose_rows(views, legal, num_legal, rules, styles, tools, actions)
