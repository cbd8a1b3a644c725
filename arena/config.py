"""Tournaments from config files."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tonk_env.errors import TonkError
from tonk_env.limits import MAX_SEATS
from tonk_env.resources import find_config, read_toml


class ArenaConfig(BaseModel):
    """A tournament.

    Raises:
        TonkError: through `load_config`, naming the key, its value and what is allowed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    agents: tuple[str, ...] = Field(description="spec strings, each once", min_length=2, strict=False)
    rules: str = Field("pagat", description="a rules preset, or the path of its file")
    players: int = Field(2, description="seats at a table", ge=2, le=MAX_SEATS)
    deals: int = Field(20000, description="decks, each played under every seating", ge=2)
    seed: int = Field(0, description="of decks, orders and lots", ge=0)


def load_config(name_or_path: str | Path) -> ArenaConfig:
    """Returns the tournament of a config that ships, by name, or of a TOML file.

    Raises:
        TonkError: there is no such file, or it is not valid.
    """
    path = find_config("arena", name_or_path)
    try:
        return ArenaConfig.model_validate(read_toml(path))
    except ValidationError as error:
        raise TonkError(f"{path}: {_one_line(error)}") from None


def _one_line(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"{where}: no such key; allowed are {', '.join(ArenaConfig.model_fields)}"
    given = "" if first["type"] == "missing" else f" = {first['input']!r}"
    return f"{where}{given}: {first['msg'][:1].lower()}{first['msg'][1:]}"
