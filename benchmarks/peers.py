"""What other libraries do in a second, for `tonk bench` to put beside ours; each is measured as ours is.

A peer that is not installed raises ModuleNotFoundError.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import cycle
from typing import Any

from tonk_cli.speed import (
    PLAYERS,
    RULES,
    SHAPE,
    TRAINING_REPETITIONS,
    Shape,
    Speed,
    best_rate,
    random_episodes,
)

DEALS = 64


def openspiel(seconds: float, observing: bool = False) -> Speed:
    """Gin rummy of OpenSpiel: a Python loop over its C++ state, uniformly random.

    Games start from copies of states after the deal, since its deal is a chance node for each card. Cards
    drawn from the stock are chance nodes too: their time counts, but not as decisions.
    """
    import pyspiel
    from open_spiel.python.observation import make_observation

    game, draw = pyspiel.load_game("gin_rummy"), random.Random(0).random

    def deal() -> Any:
        state = game.new_initial_state()
        while state.is_chance_node():
            cards = state.legal_actions()
            state.apply_action(cards[int(draw() * len(cards))])
        return state

    deals, observation = cycle([deal() for _ in range(DEALS)]), make_observation(game)
    counted = [0, 0]

    def play(games: int) -> int:
        decisions = 0
        for _ in range(games):
            state = next(deals).clone()
            while not state.is_terminal():
                actions = state.legal_actions()
                if not state.is_chance_node():
                    decisions += 1
                    if observing:
                        observation.set_from(state, state.current_player())
                state.apply_action(actions[int(draw() * len(actions))])
            state.returns()
        counted[0] += games
        counted[1] += decisions
        return decisions

    rate = best_rate(play, seconds)
    what = "OpenSpiel gin_rummy, cloned, Python loop" + (", with observations" if observing else "")
    return Speed(what, rate, {"decisions_per_game": round(counted[1] / counted[0], 2)})


def openspiel_observed(seconds: float) -> Speed:
    """The same, with its observation written into an array for each decision."""
    return openspiel(seconds, observing=True)


def connect_four(seconds: float) -> Speed:
    """Connect Four of PettingZoo, which has no gin rummy any more; pygame is all that this game needs."""
    from pettingzoo.classic import connect_four_v3

    rates = []
    for env in (connect_four_v3.raw_env(), connect_four_v3.env()):
        play = random_episodes(env)
        play(1)
        rates.append(best_rate(play, seconds))
    return Speed("PettingZoo connect_four_v3.raw_env", rates[0], {"env_per_second": rates[1]})


def stock_ppo(seconds: float, shape: Shape = SHAPE) -> Speed:
    """MaskablePPO as sb3-contrib has it: the same widths, batch, epochs and rollout, on `TonkVecEnv`.

    It has one trunk for the policy and another for the value. The environment's opponents are rule bots,
    whose decisions do not count and cost next to nothing.
    """
    from sb3_contrib import MaskablePPO
    from torch import nn

    from tonk_env.sb3_env import TonkVecEnv

    model = MaskablePPO(
        "MlpPolicy",
        TonkVecEnv(RULES, PLAYERS, num_tables=shape.tables),
        learning_rate=1.5e-3,
        n_steps=shape.steps,
        batch_size=shape.batch,
        n_epochs=shape.epochs,
        gamma=1.0,
        ent_coef=0.08,
        policy_kwargs={"net_arch": list(shape.layers), "activation_fn": nn.ReLU},
        device="cpu",
        seed=0,
    )
    rollout = shape.tables * shape.steps

    def learn(rollouts: int) -> int:
        model.learn(rollouts * rollout, reset_num_timesteps=False)
        return rollouts * rollout

    rate = best_rate(learn, seconds, TRAINING_REPETITIONS)
    return Speed("stock MaskablePPO, fp32, same widths, batch, epochs, rollout", rate)


PEERS: dict[str, Callable[[float], Speed]] = {
    "engine": openspiel,
    "engine_observed": openspiel_observed,
    "aec": connect_four,
    "training": stock_ppo,
}
