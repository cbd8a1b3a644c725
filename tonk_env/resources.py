"""Finds what ships as data, configs and trained agents, alike from a checkout and from an installed wheel."""

from __future__ import annotations

import difflib
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from tonk_env.errors import TonkError

ConfigKind = Literal["rules", "train", "arena"]

_PACKAGE = Path(__file__).resolve().parent
_NOUNS = {"rules": "rules preset", "train": "training config", "arena": "arena config"}
CHECKPOINT_SUFFIXES = (".zip", ".npz")
"""Of trained agents: networks, and tables."""
_SIBLINGS = ("agents", "train", "arena", "tonk_cli")
_MARK = '__distribution__ = "tonk"'


def _data_dir(name: str) -> Path:
    # A wheel carries the data inside the package. A checkout, editable installs included, has it beside the
    # package (the copy that an editable install leaves in site-packages is never looked at).
    bundled = _PACKAGE / "_data" / name
    if bundled.is_dir():
        return bundled
    beside = _PACKAGE.parent / name
    if (_PACKAGE.parent / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    raise TonkError(
        f"this installation of Tonk lacks its {name} (looked in {bundled} and {beside}): install it again"
    )


def configs_dir() -> Path:
    """Returns the folder of the configs that ship: `rules/`, `train/` and `arena/`.

    Raises:
        TonkError: The installation is incomplete.
    """
    return _data_dir("configs")


def checkpoints_dir() -> Path:
    """Returns the folder of the trained agents that ship, each with its card.

    Raises:
        TonkError: The installation is incomplete.
    """
    return _data_dir("checkpoints")


def list_configs(kind: ConfigKind) -> list[str]:
    """Returns the names of the configs of one kind that ship, sorted."""
    return _names(configs_dir() / kind, (".toml",))


def _names(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    return sorted(path.stem for suffix in suffixes for path in folder.glob(f"*{suffix}"))


def list_checkpoints() -> list[str]:
    """Returns the names of the trained agents that ship, sorted."""
    return _names(checkpoints_dir(), CHECKPOINT_SUFFIXES)


def find_config(kind: ConfigKind, name_or_path: str | Path) -> Path:
    """Returns the file of a config.

    Args:
        kind: What the config is for.
        name_or_path: The name of one that ships (`pagat`), or a path to a TOML file. A path that does not
            exist is also looked for among those that ship, so `configs/train/quickstart.toml` means the same
            in any folder.

    Raises:
        TonkError: There is no such file; the message names what is available.
    """
    return _find(_NOUNS[kind], configs_dir() / kind, (".toml",), str(name_or_path))


def find_checkpoint(name_or_path: str | Path) -> Path:
    """Returns the file of a trained agent: one that ships, by its name, or any path to a zip or npz.

    Raises:
        TonkError: There is no such file; the message names what is available.
    """
    return _find("trained agent", checkpoints_dir(), CHECKPOINT_SUFFIXES, str(name_or_path))


def _find(noun: str, shipped: Path, suffixes: tuple[str, ...], given: str) -> Path:
    names = _names(shipped, suffixes)
    if given in names:
        return next(path for suffix in suffixes if (path := shipped / (given + suffix)).is_file())
    path = Path(given)
    if path.suffix in suffixes:
        if path.is_file():
            return path
        # `x.toml`, `train/x.toml` and `configs/train/x.toml` are all endings of the path to one that ships.
        meant = shipped / path.name
        if meant.is_file() and meant.parts[-len(path.parts) :] == path.parts:
            return meant
    close = difflib.get_close_matches(path.stem, names, n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    have = ", ".join(names) or "(none ship)"
    raise TonkError(
        f"no {noun} {given!r}{hint}: give a path to a {' or '.join(suffixes)} file, or one of {have}"
    )


def read_toml(path: Path) -> dict[str, Any]:
    """Returns what a TOML file holds.

    Raises:
        TonkError: It cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TonkError(f"{path}: not a readable TOML file: {error}") from None


def check_siblings() -> None:
    """Makes sure that the packages beside this one are Tonk's, not foreign ones of the same name.

    `agents` is also the top-level name of another distribution, and a folder named `train` in the way of an
    import is common; the first message would otherwise be an ImportError from inside a stranger's code.

    Raises:
        TonkError: One is missing or foreign; the message says where it lies.
    """
    for name in _SIBLINGS:
        found = _origin(name)
        # Read, not imported: a stranger's code is not run to find out that it is one.
        if not found.is_file() or _MARK not in found.read_text("utf-8", "replace"):
            raise TonkError(
                f"the package {name!r} comes from {found}, not from Tonk: remove what shadows it "
                "(openai-agents installs an 'agents', for one), or give Tonk its own virtual environment"
            )


def _origin(package: str) -> Path:
    spec = find_spec(package)
    if spec is None:
        raise TonkError(f"the package {package!r} is missing: install Tonk again")
    # A plain folder without __init__.py has no origin, only places.
    return Path(spec.origin or next(iter(spec.submodule_search_locations or ("nowhere",))))
