"""Random play that gets somewhere: uniform play ends nearly every hand by a drop at once."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env.rules import LoweredRules
from tonk_env.rules.lower import DROP, HIT, SPREAD


def choose(mask: npt.NDArray[Any], rules: LoweredRules, rng: random.Random, drop: float = 0.02) -> int:
    """A random legal action: drops at a probability of their own, spreads and hits half the time."""
    legal = np.flatnonzero(mask).tolist()
    kinds = rules.record[0]["action_kind"]
    if kinds[legal[0]] == DROP and len(legal) > 1:
        if rng.random() < drop:
            return int(legal[0])
        legal = legal[1:]
    eager = [action for action in legal if kinds[action] in (SPREAD, HIT)]
    return int(rng.choice(eager if eager and rng.random() < 0.5 else legal))


def play(env: Any, rng: random.Random, drop: float = 0.02) -> dict[str, float]:
    """Plays an AEC episode from where it stands to its end; returns what each agent's rewards add up to."""
    rules = env.unwrapped.rules
    sums = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        sums[agent] += reward
        env.step(None if terminated or truncated else choose(info["action_mask"], rules, rng, drop))
    return sums
