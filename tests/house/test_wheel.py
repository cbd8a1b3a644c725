"""The wheel, installed elsewhere, finds its presets, configs and trained agents."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("tonk_env", "agents", "train", "arena", "tonk_cli")


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # Without isolation: the pinned build backend of this environment, and nothing to download.
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it; all else is borrowed from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder.parent)
    # A path in a .pth file brings the packages there but not its .pth files: no editable install leaks in.
    site = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    )
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "borrowed.pth").write_text("\n".join(sorted(paths)) + "\n")
    return folder


def shipped_files(kind: str) -> dict[str, bytes]:
    files = (path for path in (ROOT / kind).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in files}


def test_wheel_holds_packages_and_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == set(PACKAGES)
        assert {f"{package}/py.typed" for package in PACKAGES} <= names
        data = {name.removeprefix("tonk_env/_data/") for name in names if name.startswith("tonk_env/_data/")}
        shipped = shipped_files("configs") | shipped_files("checkpoints")
        assert data == set(shipped)
        assert all(archive.read(f"tonk_env/_data/{name}") == content for name, content in shipped.items())


def test_installed_wheel_finds_what_ships(elsewhere: Path, tmp_path: Path) -> None:
    code = """
import json, tonk_env
from tonk_env import resources
resources.check_siblings()
kinds = ("rules", "train", "arena")
found = {f"configs/{kind}/{name}.toml": str(resources.find_config(kind, f"configs/{kind}/{name}.toml"))
         for kind in kinds for name in resources.list_configs(kind)}
found |= {f"checkpoints/{path.name}": str(path)
          for path in map(resources.find_checkpoint, resources.list_checkpoints())}
print(json.dumps({"package": tonk_env.__file__, "found": found}))
"""
    told = json.loads(run(elsewhere / "bin" / "python", "-c", code, cwd=tmp_path))
    assert Path(told["package"]).is_relative_to(elsewhere)
    shipped = {*shipped_files("configs"), *shipped_files("checkpoints")}
    assert set(told["found"]) == {name for name in shipped if name.endswith((".toml", ".zip", ".npz"))}
    assert all(Path(path).is_relative_to(elsewhere) for path in told["found"].values())


def test_installed_wheel_loads_every_preset(elsewhere: Path, tmp_path: Path) -> None:
    code = """
from tonk_env.resources import list_configs
from tonk_env.rules.spec import load_rules
print(*(name for name in list_configs("rules") if load_rules(name)))
"""
    names = run(elsewhere / "bin" / "python", "-c", code, cwd=tmp_path).split()
    assert "pagat" in names


def test_installed_command_says_its_version(elsewhere: Path, tmp_path: Path) -> None:
    assert "0.1.0" in run(elsewhere / "bin" / "tonk", "--version", cwd=tmp_path)


@pytest.mark.parametrize("name", [path.name for path in sorted((ROOT / "checkpoints").glob("*.zip"))])
def test_shipped_agent_plays_from_the_installed_wheel(elsewhere: Path, tmp_path: Path, name: str) -> None:
    agents = (f"checkpoints/{name}", "random")
    options = ("--rules", "pagat", "--players", "2", "--deals", "8", "--seed", "7", "--json")
    told = json.loads(run(elsewhere / "bin" / "tonk", "arena", *agents, *options, cwd=tmp_path))
    assert len(told["agents"]) == 2
