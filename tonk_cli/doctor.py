"""`tonk doctor`: what this machine has."""

from __future__ import annotations

import os
import platform
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tonk_cli.common import JsonOption, print_json

_LIBRARIES = (
    "numpy",
    "numba",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "gymnasium",
    "pettingzoo",
    "pydantic",
    "tensorboard",
    "open-spiel",
)
_FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "bf16", "asimd")


def doctor(as_json: JsonOption = False) -> None:
    """Say what this machine has: CPU, bf16, compiled kernels, versions."""
    facts = find_facts()
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            print(f"{name}:")
            for inner, text in value.items():
                print(f"  {inner}: {text if text is not None else 'not installed'}")
        else:
            shown = ", ".join(value) or "none" if isinstance(value, list) else value
            print(f"{name}: {shown}")


def find_facts() -> dict[str, Any]:
    """Returns what `tonk doctor` prints."""
    from tonk_env import __version__
    from tonk_env._jit import cache_folder, is_cold, is_compiled
    from tonk_env.resources import configs_dir

    model, flags = cpu()
    folder = cache_folder("tonk_env.engine")
    return {
        "tonk": __version__,
        "python": f"{platform.python_version()} at {sys.executable}",
        "system": platform.platform(),
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cpu_flags": flags,
        "bf16_in_cpu": any("bf16" in flag for flag in flags),
        **_learning_facts(),
        "kernels": "not compiled (NUMBA_DISABLE_JIT)"
        if not is_compiled()
        else "to be compiled on first use"
        if is_cold()
        else "compiled",
        "kernel_cache": "none" if folder is None else str(folder),
        "configs": str(configs_dir()),
        "versions": {name: _version(name) for name in _LIBRARIES},
    }


def _learning_facts() -> dict[str, Any]:
    """How fast matrices are multiplied, and what training would choose here; both by a short timing."""
    try:
        # By name: torch stays where networks live, and a broken installation of it is told, not raised.
        network = import_module("agents.neural.network")
    except ImportError as error:
        return {"matmul_gflops": {}, "training_precision": f"unknown ({error})"}
    gflops = {name: round(speed, 1) for name, speed in network.product_gflops().items()}
    return {"matmul_gflops": gflops, "training_precision": network.choose_precision("auto")}


def cpu() -> tuple[str, list[str]]:
    """Returns the CPU's name, and which of the flags that matter it has."""
    model, flags = platform.processor() or platform.machine(), set[str]()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            model = value.strip()
        elif name.strip() in ("flags", "Features"):
            flags.update(value.split())
    return model, [flag for flag in _FLAGS if flag in flags]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
