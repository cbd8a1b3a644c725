"""Trains stock MaskablePPO against a rule bot: python examples/maskable_ppo.py [decisions [tables]].

It is the short way in; `tonk train` learns by self-play and is many times as fast.
"""

import sys

from sb3_contrib import MaskablePPO

from tonk_env.sb3_env import TonkVecEnv

decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
tables = int(sys.argv[2]) if len(sys.argv) > 2 else 512

env = TonkVecEnv("pagat", num_players=2, opponents="heuristic:drop=15", num_tables=tables, seed=0)
model = MaskablePPO(
    "MlpPolicy",
    env,
    n_steps=64,
    batch_size=8 * tables,
    n_epochs=2,
    gamma=1.0,
    learning_rate=1.5e-3,
    ent_coef=0.05,
    policy_kwargs={"net_arch": [256, 256]},
    seed=0,
    verbose=1,
)
model.learn(decisions)
lately = [episode["r"] for episode in model.ep_info_buffer or ()]
print("stakes per hand lately:", sum(lately) / len(lately))
