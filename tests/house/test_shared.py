"""What every package leans on: the key of the kernel cache, and the guard against foreign packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tonk_env import _jit


def names(unit: str) -> set[str]:
    root = Path(_jit.__file__).resolve().parents[1]
    return {str(path.relative_to(root)) for path in _jit._sources(unit)}


def test_a_cache_key_covers_the_kernels_that_are_called_from_other_packages() -> None:
    needed = {"tonk_env/engine/turn.py", "tonk_env/view.py", "agents/bot.py", "agents/neural/kernels.py"}
    assert needed <= names("arena")
    assert needed | {"train/selfplay/kernels.py"} <= names("train")
    assert "tonk_env/engine/turn.py" in names("tonk_env.engine")
    assert not any(name.startswith(("agents", "arena", "train")) for name in names("tonk_env.engine"))


def test_every_command_says_in_one_line_that_a_foreign_package_shadows_ours(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("raise SystemExit('a stranger ran')\n")
    # `-m` puts the current folder first on the path, as a stranger's package would be.
    call = [sys.executable, "-m", "tonk_cli", "arena", "random", "expert", "--deals", "2"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "'agents'" in done.stderr and "stranger" not in done.stderr
