"""Questions of every kind that some rules ask, for trying out a program that is to answer them."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tonk_env.actions import action_table
from tonk_env.batch import deal_hand
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.state import ENDED, PHASES, STATE_DTYPE
from tonk_env.engine.turn import apply
from tonk_env.rules import LoweredRules
from tonk_env.view import VIEW_DTYPE, view

Question = tuple[np.void, list[int], int]
"""A view of the seat to move, ids of its legal actions, and random bits."""

EACH = 10
"""Questions of each kind that are looked for."""
_WALKS = 1000  # hands in which they are looked for
_SEED = 0x717565
_EAGER = ("spread", "hit", "slap", "swap")
_ENDING = ("drop", "claim")


@functools.cache
def find_questions(rules: LoweredRules, players: int) -> dict[str, list[Question]]:
    """Returns questions of every kind that the rules ask, met in hands that are played by lot.

    Returns:
        By kind (``draw``, ``play`` …); the list of a kind that was not met is empty.
    """
    kinds = {key.kind for key in action_table(rules).keys}
    found: dict[str, list[Question]] = {"draw": [], "play": []}
    for kind, is_asked in (
        ("target", "target" in kinds),
        ("widow", "swap" in kinds),
        ("slap", "slap" in kinds),
        ("give", "slap" in kinds),
    ):
        if is_asked:
            found[kind] = []
    lots = random.Random(_SEED)
    tables, views = np.zeros(1, STATE_DTYPE), np.zeros(1, VIEW_DTYPE)
    for number in range(_WALKS):
        if all(len(questions) >= EACH for questions in found.values()):
            break
        deal_hand(tables, 0, rules.record, 0, players, number % players, number)
        for actions in _walk(tables, rules, lots):
            questions = found.setdefault(PHASES[int(tables["phase"][0])], [])
            # One in two: not the same turn of hand after hand.
            if len(questions) < EACH and lots.random() < 0.5:
                view(tables, 0, int(tables["seat"][0]), views, 0)
                questions.append((views[0].copy(), actions, lots.getrandbits(63)))
    return found


def _walk(tables: npt.NDArray[np.void], rules: LoweredRules, lots: random.Random) -> Iterator[list[int]]:
    """Plays the hand at table 0 by lot, so that it gets somewhere: no drops, and mostly what is rare.

    Yields:
        The legal actions, before each move.
    """
    keys, legal = action_table(rules).keys, np.zeros(rules.max_legal, np.int16)
    while tables["phase"][0] != ENDED:
        actions = legal[: legal_actions(tables, 0, rules.record, legal)].tolist()
        yield actions
        eager = [action for action in actions if keys[action].kind in _EAGER]
        others = [action for action in actions if keys[action].kind not in _ENDING] or actions
        apply(tables, 0, rules.record, lots.choice(eager if eager and lots.random() < 0.7 else others))
