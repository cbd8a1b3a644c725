"""Tonk as a game of OpenSpiel (optional extra `openspiel`).

    import tonk_env.openspiel, pyspiel
    game = pyspiel.load_game("tonk", {"rules": "toy_2s4r", "players": 2})

Cards are dealt one by one at chance nodes. The information state is the seat's log of events
(`tonk_env.Hand.log`), returns are in stakes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from tonk_env.cards import CARD_TEXT, NUM_TYPES
from tonk_env.hand import Hand
from tonk_env.rules import LoweredRules, lower

NAME = "tonk"


def _game_type(utility: Any) -> Any:
    return pyspiel.GameType(
        short_name=NAME,
        long_name="Tonk",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=6,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification={"rules": "pagat", "players": 2},
    )


_TYPE = _game_type(pyspiel.GameType.Utility.ZERO_SUM)


def _most_won(rules: LoweredRules, num_players: int) -> float:
    """A bound on what a seat wins or loses in a hand, in stakes; nothing comes near it."""
    row = rules.record[0]
    amounts = [
        row[name].max()
        for name in row.dtype.names
        if name.startswith(
            ("caught_", "tier_pays", "out_", "drop_pays", "forfeit", "long_bonus", "bet_antes")
        )
        and row[name].dtype.kind == "f"
    ]
    largest = max(2.0, *(float(amount) for amount in amounts if amount < 1000))
    points = float(row["values"].max()) * (int(row["hand_size"][num_players]) + 1) if row["push_ups"] else 1.0
    return (2 + largest) * points * num_players**2


class TonkState(pyspiel.State):  # type: ignore[misc]
    """A point of a hand."""

    def __init__(self, game: TonkGame) -> None:
        super().__init__(game)
        self.hand = Hand(game.rules, game.num_players(), explicit=True)

    def current_player(self) -> int:
        """Returns who moves: a seat, chance or nobody."""
        if self.hand.ended:
            return int(pyspiel.PlayerId.TERMINAL)
        seat = self.hand.to_move
        return int(pyspiel.PlayerId.CHANCE) if seat is None else seat

    def _legal_actions(self, player: int) -> list[int]:
        return self.hand.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Returns the cards that may come next, and their probabilities."""
        return [(CARD_TEXT.index(card), chance) for card, chance in self.hand.chance_outcomes()]

    def _apply_action(self, action: int) -> None:
        if self.hand.is_chance:
            self.hand.apply_chance(action)
        else:
            self.hand.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return CARD_TEXT[action] if player == pyspiel.PlayerId.CHANCE else self.hand.action_text(action)

    def is_terminal(self) -> bool:
        """Tells whether the hand is over."""
        return self.hand.ended

    def returns(self) -> list[float]:
        """Returns what each seat has won, in stakes."""
        return self.hand.payments or [0.0] * self.hand.num_players

    def __str__(self) -> str:
        moves = ", ".join(f"{event.seat} {event.move}" for event in self.hand.events)
        return f"{self.hand!r} hands {self.hand.hands} top {self.hand.top} moves {moves}"


class TonkObserver:
    """Says what a seat has seen, as text."""

    def __init__(self) -> None:
        self.tensor = np.zeros(0, np.float32)
        self.dict: dict[str, Any] = {}

    def set_from(self, state: TonkState, player: int) -> None:
        """Does nothing: there is no tensor."""

    def string_from(self, state: TonkState, player: int) -> str:
        """Returns the seat's log of events, a line for each."""
        return "\n".join(state.hand.log(player))


class TonkGame(pyspiel.Game):  # type: ignore[misc]
    """Tonk by some rules.

    Args:
        params: `rules`, a preset's name or a path, and `players`.

    Raises:
        TonkError: unknown rules, rules that are not played by so many, or that have chance besides the cards.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        self.rules, players = lower(params.get("rules", "pagat")), int(params.get("players", 2))
        hand = Hand(self.rules, players, explicit=True)  # refuses what cannot be played so
        row = self.rules.record[0]
        most, is_push_ups = _most_won(self.rules, players), bool(row["push_ups"])
        size = int(row["hand_size"][players])
        utility = pyspiel.GameType.Utility.GENERAL_SUM if is_push_ups else pyspiel.GameType.Utility.ZERO_SUM
        info = pyspiel.GameInfo(
            num_distinct_actions=self.rules.num_actions,
            max_chance_outcomes=NUM_TYPES,
            num_players=players,
            min_utility=-most,
            max_utility=most,
            utility_sum=None if is_push_ups else 0.0,
            # A turn is a draw, what is laid, each with a target, and a discard.
            max_game_length=players * int(row["turn_limit"]) * (2 * size + 4) + hand.num_moves,
        )
        super().__init__(_game_type(utility), info, params)

    def new_initial_state(self) -> TonkState:
        """Returns a state before the deal."""
        return TonkState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> TonkObserver:
        """Returns what writes information states."""
        return TonkObserver()


if NAME not in pyspiel.registered_names():
    pyspiel.register_game(_TYPE, TonkGame)
