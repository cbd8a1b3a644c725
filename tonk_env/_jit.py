"""The only place that configures Numba.

Numba's cache does not notice edits in imported modules, nor whether bounds are checked, so every package's
kernels are cached in a folder of their own, named by a hash of the sources that can change them.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_HOME = Path(__file__).resolve().parent
_ENGINE = "tonk_env.engine"
_CALLERS = ("agents", "arena", "train", "tonk_cli")


def is_compiled() -> bool:
    """Tells whether kernels are compiled (not so under ``NUMBA_DISABLE_JIT=1``)."""
    return not numba.config.DISABLE_JIT


def _sources(package: str) -> list[Path]:
    """The modules whose text can change the kernels of a package, or of the engine (``tonk_env.engine``)."""
    engine = [*sorted((_HOME / "engine").glob("*.py")), _HOME / "rules" / "lower.py"]
    engine += [_HOME / name for name in ("_jit.py", "cards.py", "limits.py")]
    if package == _ENGINE:
        return engine
    # Kernels of one package call those of another, so all of Tonk's count, and those of a package beyond.
    folders = {_HOME, *(_HOME.parent / name for name in _CALLERS)}
    spec = None if package == "__main__" else importlib.util.find_spec(package)
    if spec is not None and spec.origin is not None:
        folders.add(Path(spec.origin).resolve().parent)
    others = [
        path for folder in sorted(folders) for path in sorted(folder.rglob("*.py")) if path not in engine
    ]
    return engine + [path for path in others if b"_jit" in path.read_bytes()]


def _unit(module: str) -> str:
    """What a module's kernels are cached under: the engine, which everything calls, or its package."""
    return _ENGINE if module.startswith((_ENGINE, __name__)) else module.partition(".")[0]


@functools.cache
def cache_folder(unit: str) -> Path | None:
    """Returns where a unit's kernels are cached, or None where nothing is writable."""
    digest = hashlib.sha256()
    digest.update(f"{numba.__version__} {sys.version_info[:2]} {numba.config.BOUNDSCHECK}".encode())
    for path in _sources(unit):
        digest.update(path.name.encode() + path.read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for base in (Path(home), Path(tempfile.gettempdir())):
        folder = base / "tonk" / "numba" / f"{unit}-{digest.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    warnings.warn(
        "tonk: no writable folder for compiled kernels: each process compiles them anew", stacklevel=2
    )
    return None


def is_cold() -> bool:
    """Tells whether the engine still has to be compiled on this machine."""
    folder = cache_folder(_ENGINE)
    return is_compiled() and (folder is None or not any(folder.rglob("*.nbi")))


def _compile(kernel: Kernel, **flags: Any) -> Kernel:
    if not is_compiled():
        return kernel
    folder = cache_folder(_unit(kernel.__module__))
    # Set only while decorating, so that a user's own Numba code keeps its own folder.
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or "")
    try:
        flags = {"cache": folder is not None, "nogil": True, "error_model": "numpy", "_nrt": False, **flags}
        compiled: Kernel = numba.njit(**flags)(kernel)
    finally:
        numba.config.CACHE_DIR = previous
    return compiled


def jit(kernel: Kernel) -> Kernel:
    """Compiles a kernel in nopython mode, cached on disk, without the interpreter lock held.

    Kernels may not allocate arrays: Numba's reference counts are off, which makes small kernels that call
    each other four to ten times faster. Scratch space is passed in by the caller.
    """
    return _compile(kernel)


def jit_inline(kernel: Kernel) -> Kernel:
    """Compiles as `jit` does, and copies the kernel into every kernel that calls it.

    For what every decision calls, from few places: a call passes seven words for each array, which takes
    about as long as the work itself.
    """
    return _compile(kernel, forceinline=True)


def jit_sums(kernel: Kernel) -> Kernel:
    """Compiles as `jit` does, and lets float sums be reordered, so that dot products are vectorised.

    NaN and infinity stay.
    """
    return _compile(kernel, fastmath={"reassoc", "contract", "nsz"})


if is_compiled():
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def _count_bits(typing_context: Any, word: Any) -> Any:
        return types.int64(types.int64), lambda context, builder, signature, given: builder.ctpop(given[0])

    @intrinsic  # type: ignore[untyped-decorator]
    def _trailing_zeros(typing_context: Any, word: Any) -> Any:
        defined_at_zero = ir.Constant(ir.IntType(1), 0)
        return types.int64(types.int64), lambda context, builder, signature, given: builder.cttz(
            given[0], defined_at_zero
        )

    @jit
    def popcount(word: int) -> int:
        """Returns how many bits of a non-negative word are set."""
        return _count_bits(word)  # type: ignore[no-any-return]

    @jit
    def lowest_bit(word: int) -> int:
        """Returns the place of the lowest set bit of a positive word."""
        return _trailing_zeros(word)  # type: ignore[no-any-return]

    @jit
    def mix(key: int, counter: int) -> int:
        """Returns 63 random bits, the same for the same key and counter (splitmix64's finaliser, twice)."""
        word = np.uint64(key) + (np.uint64(counter) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        for _ in range(2):
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word = word ^ (word >> np.uint64(31))
        return np.int64(word >> np.uint64(1))  # type: ignore[return-value]

    @jit
    def fold(key: int, counter: int) -> int:
        """Returns 63 bits by which sequences can be told apart, folded in one number after the other."""
        word = (np.uint64(key) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(counter)
        word = (word ^ (word >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
        return np.int64((word ^ (word >> np.uint64(29))) >> np.uint64(1))  # type: ignore[return-value]

else:
    _WORD = (1 << 64) - 1

    def popcount(word: int) -> int:
        """Returns how many bits of a non-negative word are set."""
        return int(word).bit_count()

    def lowest_bit(word: int) -> int:
        """Returns the place of the lowest set bit of a positive word."""
        return (int(word) & -int(word)).bit_length() - 1

    def mix(key: int, counter: int) -> int:
        """Returns 63 random bits, the same for the same key and counter (splitmix64's finaliser, twice)."""
        word = int(key) + (int(counter) + 1) * 0x9E3779B97F4A7C15 & _WORD
        for _ in range(2):
            word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
            word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
            word = word ^ word >> 31
        return word >> 1

    def fold(key: int, counter: int) -> int:
        """Returns 63 bits by which sequences can be told apart, folded in one number after the other."""
        word = (int(key) + 1) * 0x9E3779B97F4A7C15 + int(counter) & _WORD
        word = (word ^ word >> 32) * 0xBF58476D1CE4E5B9 & _WORD
        return (word ^ word >> 29) >> 1


@jit
def below(word: int, limit: int) -> int:
    """Turns 63 random bits into a number from 0 to `limit` - 1 (`limit` at most 2**31)."""
    return ((word >> 31) * limit) >> 32
