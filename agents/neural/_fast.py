"""Numba with sums in any order, which lets a dot product be vectorised; all else is as in `tonk_env._jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from tonk_env._jit import cache_folder, is_compiled

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def fast(kernel: Kernel) -> Kernel:
    """Compiles as `tonk_env._jit.jit` does, and lets float sums be reordered (NaN and infinity stay)."""
    if not is_compiled():
        return kernel
    folder = cache_folder(kernel.__module__.partition(".")[0])
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or "")
    try:
        options = {
            "nogil": True,
            "error_model": "numpy",
            "_nrt": False,
            "fastmath": {"reassoc", "contract", "nsz"},
        }
        compiled: Kernel = numba.njit(cache=folder is not None, **options)(kernel)
    finally:
        numba.config.CACHE_DIR = previous
    return compiled
