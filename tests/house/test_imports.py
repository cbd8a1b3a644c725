"""`import tonk_env` stays light: scripts and tools that only ask for its version do not wait for torch."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = (
    "gymnasium",
    "llvmlite",
    "matplotlib",
    "numba",
    "numpy",
    "pettingzoo",
    "pydantic",
    "pyspiel",
    "torch",
)
HEAVY += ("agents", "arena", "rich", "sb3_contrib", "stable_baselines3", "tonk_cli", "train", "typer")


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh process holds after running some code."""
    show = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_import_is_light() -> None:
    assert not modules_after("import tonk_env; tonk_env.__version__; tonk_env.TonkError").intersection(HEAVY)


def test_finding_resources_is_light() -> None:
    code = "from tonk_env.resources import list_configs; list_configs('rules')"
    assert not modules_after(code).intersection(HEAVY)


def test_names_are_listed_before_they_are_loaded() -> None:
    code = "import tonk_env; assert {'Hand', 'TonkTables'} <= set(dir(tonk_env))"
    assert "numba" not in modules_after(code)


def test_unknown_name_is_an_attribute_error() -> None:
    import tonk_env

    assert not hasattr(tonk_env, "whist")
