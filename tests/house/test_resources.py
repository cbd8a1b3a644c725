"""What ships is found by name and by path, and what is not there is named in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tonk_env import resources
from tonk_env.errors import TonkError


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with data of its own, as in a wheel; the working folder is an empty one."""
    package = tmp_path / "site-packages" / "tonk_env"
    for name in ("configs/rules/pagat", "configs/rules/knock", "configs/train/quickstart"):
        file = package / "_data" / f"{name}.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (package / "_data" / "checkpoints").mkdir()
    (package / "_data" / "checkpoints" / "champion.zip").write_text("")
    (package / "_data" / "checkpoints" / "book.npz").write_text("")
    monkeypatch.setattr(resources, "_PACKAGE", package)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return package / "_data"


def test_checkout_is_used_where_there_is_one() -> None:
    root = Path(__file__).resolve().parents[2]
    assert resources.configs_dir() == root / "configs"
    assert resources.checkpoints_dir() == root / "checkpoints"


@pytest.mark.parametrize("given", ["pagat", "pagat.toml", "rules/pagat.toml", "configs/rules/pagat.toml"])
def test_shipped_config_is_found_in_any_folder(shipped: Path, given: str) -> None:
    assert resources.find_config("rules", given) == shipped / "configs/rules/pagat.toml"


@pytest.mark.parametrize("given", ["champion", "champion.zip", "checkpoints/champion.zip"])
def test_shipped_checkpoint_is_found_in_any_folder(shipped: Path, given: str) -> None:
    assert resources.find_checkpoint(given) == shipped / "checkpoints/champion.zip"


@pytest.mark.parametrize("given", ["book", "book.npz", "checkpoints/book.npz"])
def test_shipped_table_is_found_in_any_folder(shipped: Path, given: str) -> None:
    assert resources.find_checkpoint(given) == shipped / "checkpoints/book.npz"


def test_own_file_goes_before_the_shipped_one(shipped: Path) -> None:
    Path("pagat.toml").write_text("")
    assert resources.find_config("rules", "pagat.toml") == Path("pagat.toml")
    assert resources.find_config("rules", "pagat") == shipped / "configs/rules/pagat.toml"


def test_own_file_of_any_name(shipped: Path) -> None:
    Path("house.toml").write_text("")
    assert resources.find_config("rules", "house.toml") == Path("house.toml")
    assert resources.find_config("rules", Path("house.toml").resolve()).is_absolute()


@pytest.mark.parametrize(
    "given", ["whist", "whist.toml", "train/pagat.toml", "/configs/rules/pagat.toml", "", ".", "rules"]
)
def test_absent_config_names_what_is_there(shipped: Path, given: str) -> None:
    with pytest.raises(TonkError) as error:
        resources.find_config("rules", given)
    text = str(error.value)
    assert "\n" not in text
    assert f"no rules preset {given!r}" in text
    assert "knock, pagat" in text


def test_near_miss_is_suggested(shipped: Path) -> None:
    with pytest.raises(TonkError, match=r"did you mean pagat\?"):
        resources.find_config("rules", "pagatt")


def test_lists(shipped: Path) -> None:
    assert resources.list_configs("rules") == ["knock", "pagat"]
    assert resources.list_configs("arena") == []
    assert resources.list_checkpoints() == ["book", "champion"]
    with pytest.raises(TonkError, match=r"\(none ship\)"):
        resources.find_config("arena", "duel")


def test_foreign_configs_beside_an_installed_package_are_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs").mkdir()
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "tonk_env")
    with pytest.raises(TonkError, match="lacks its configs"):
        resources.configs_dir()


def test_own_siblings_pass() -> None:
    resources.check_siblings()


@pytest.mark.parametrize("layout", ["agents.py", "agents/__init__.py", "agents/notes.txt"])
def test_foreign_package_in_the_way_is_named(tmp_path: Path, layout: str) -> None:
    stranger = tmp_path / layout
    stranger.parent.mkdir(exist_ok=True)
    stranger.write_text("raise SystemExit('a stranger was run')\n")
    code = "from tonk_env.resources import check_siblings; check_siblings()"
    root = Path(__file__).resolve().parents[2]
    where = [str(tmp_path), str(root)]
    if layout.endswith(".txt"):
        # A folder without __init__.py gives way to a package found later, so there must be none.
        where = [str(tmp_path)]
        (tmp_path / "tonk_env").symlink_to(root / "tonk_env")
        code = f"import sys; sys.path[:] = [p for p in sys.path if p != {str(root)!r}]; {code}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(where)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "a stranger was run" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert "TonkError: the package 'agents' comes from" in last
    assert str(tmp_path / "agents") in last
