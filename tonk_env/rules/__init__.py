"""House rules as data."""

from tonk_env.rules.lower import LoweredRules, lower, stack
from tonk_env.rules.spec import Preset, Rules, load_preset, load_rules, preset_names

__all__ = ["LoweredRules", "Preset", "Rules", "load_preset", "load_rules", "lower", "preset_names", "stack"]
