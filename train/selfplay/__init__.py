"""Self-play PPO: every seat's decisions train one shared network."""
