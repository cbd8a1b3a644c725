"""The card game Tonk as an environment for learning agents.

Importing this package is fast and light: what needs compiled kernels or other libraries is loaded when it
is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tonk_env.errors import TonkError

__version__ = "0.1.0"

_LAZY = {"Hand": "tonk_env.hand", "TonkTables": "tonk_env.vector"}

__all__ = ["Hand", "TonkError", "TonkTables", "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LAZY[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
