"""Plays a match of five hands at random through PettingZoo: python examples/aec_loop.py."""

from tonk_env import tonk_v0

env = tonk_v0.env(rules="pagat", num_players=3, hands=5, render_mode="ansi")
env.reset(seed=7)
stakes = dict.fromkeys(env.agents, 0.0)

for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    stakes[agent] += reward
    if termination or truncation:
        action = None
    else:
        action = env.action_space(agent).sample(info["action_mask"])
    env.step(action)

print(env.render())
print("stakes of the match:", stakes)
