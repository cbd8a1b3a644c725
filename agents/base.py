"""What every agent is: a function of views, legal actions and random keys, for whole batches at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from tonk_env.batch import FORFEIT as FORFEIT  # what `act` may answer instead of an action
from tonk_env.rules import LoweredRules

Views = npt.NDArray[np.void]


@runtime_checkable
class Agent(Protocol):
    """A player of Tonk.

    Attributes:
        name: its spec string, as shown in tables of results.
    """

    name: str

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Begins a session of hands under some rules.

        Args:
            rules: the rules in force; every view's `rules_index` is 0.
            num_players: seats at each table.
            seed: for whatever the agent does at random beside the keys it is given.

        Raises:
            TonkError: the agent does not play these rules or this many.
        """

    def act(
        self,
        views: Views,
        legal: npt.NDArray[np.int16],
        num_legal: npt.NDArray[np.int64],
        keys: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        """Chooses a move for each view.

        Args:
            views: `[N]` VIEW_DTYPE, each of the seat to move.
            legal: `[N, max_legal]` int16, legal action ids, ascending, in the first `num_legal[j]` places of
                row j.
            num_legal: `[N]` int64, at least 1.
            keys: `[N]` int64, 63 random bits for each decision, fixed by the hand, the seat and the move's
                number: an agent that draws only on them plays the same whatever batch a hand is in.

        Returns:
            `[N]` int32 action ids, or `FORFEIT`.
        """

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        """Ends the session; `payments` are this agent's, one for each hand it played, in stakes."""


@runtime_checkable
class Mixed(Agent, Protocol):
    """An agent that can say with which probability it makes each move."""

    def probabilities(
        self, views: Views, legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Returns the probability of each legal move, `[N, max_legal]` float64.

        Args:
            views, legal, num_legal: as for `act`, whose moves are drawn with these probabilities.

        Returns:
            Of each row the first `num_legal` places sum to 1, and the others are 0.
        """


def certain(
    actions: npt.NDArray[np.int32], legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Returns the probabilities, as `Mixed` gives them, of making these moves and no other."""
    places = np.arange(legal.shape[1]) < num_legal[:, None]
    chosen: npt.NDArray[np.bool_] = (legal == actions[:, None]) & places
    return chosen.astype(np.float64)


@runtime_checkable
class Follower(Agent, Protocol):
    """An agent that is also told which hand each view is of, and how hands end."""

    def follow(self, hands: npt.NDArray[np.int64]) -> None:
        """Is called before each `act`: the hand of each view, `[N]` int64, by numbers of the caller's.

        A number stands for one hand until `end_hand`, and tells nothing else.
        """

    def end_hand(self, hand: int, ending: str, by: int, payments: Sequence[float]) -> None:
        """Is called once for each hand that the agent sits in and that ended with play.

        Args:
            hand: its number.
            ending: a word of hand records.
            by: the seat that brought it about, or -1.
            payments: in stakes, by seat.
        """
