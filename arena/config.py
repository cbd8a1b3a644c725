"""Tournaments from config files and options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.schedule import Schedule
from tonk_env.errors import TonkError
from tonk_env.invalid import one_line
from tonk_env.limits import MAX_SEATS
from tonk_env.resources import find_config, read_toml

MOST_BATCH = 1000
LEAST_BATCH = 50
BATCHES = 20
"""A tournament is cut into about so many batches, between the bounds above in size."""
MAX_WORKERS = 256
MOST_ROLLOUTS = 4096


class ArenaConfig(BaseModel):
    """A tournament.

    Raises:
        TonkError: through `load_config` and `make_config`, naming the key, its value and what is allowed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    agents: tuple[str, ...] = Field((), description="spec strings, each once", strict=False)
    field: tuple[str, ...] = Field(
        (),
        description="agents that those of `agents` are measured against (schedules field and host); none: "
        "all of `agents` but the first",
        strict=False,
    )
    rules: str = Field("pagat", description="a rules preset, or the path of its file")
    players: int = Field(2, description="seats at a table", ge=2, le=MAX_SEATS)
    deals: int = Field(20000, description="decks, each played under every seating; with until, at most", ge=2)
    seed: int = Field(0, description="of decks, orders and lots", ge=0, lt=2**63)
    schedule: Schedule = Field("round_robin", description="who meets whom")
    until: float | None = Field(
        None, description="plays until every half-width is below this", gt=0, allow_inf_nan=False
    )
    min_deals: int = Field(2000, description="with until, decks that are played at least", ge=2)
    batch: int | None = Field(
        None, description="decks in a batch, between which results are kept and until is decided", ge=1
    )
    luck: int = Field(
        0,
        description="rollouts after each card drawn, by which luck is taken out of payments; 0: it is not",
        ge=0,
        le=MOST_ROLLOUTS,
    )
    workers: int = Field(1, description="processes; results do not depend on it", ge=1, le=MAX_WORKERS)
    out: str | None = Field(None, description="the folder that results are written into")
    hands: bool = Field(False, description="whether a row for each hand is written there too")

    @property
    def entrants(self) -> tuple[str, ...]:
        """The agents that are measured against the field; all where the schedule has none."""
        if self.schedule not in ("field", "host"):
            return self.agents + self.field
        return self.agents if self.field else self.agents[:1]

    @property
    def everyone(self) -> tuple[str, ...]:
        """All agents, entrants first."""
        return self.agents + self.field

    @property
    def batch_blocks(self) -> int:
        """Blocks in a batch. By the number of deals alone, so that workers change nothing."""
        return self.batch or min(MOST_BATCH, max(LEAST_BATCH, -(-self.deals // BATCHES)))

    def fixing(self) -> dict[str, Any]:
        """Returns the keys that results depend on."""
        found = self.model_dump(mode="json", exclude={"workers", "out", "hands"})
        found["batch"] = self.batch_blocks
        return found


def load_config(name_or_path: str | Path) -> ArenaConfig:
    """Returns the tournament of a config that ships, by name, or of a TOML file.

    Raises:
        TonkError: there is no such file, or it is not valid.
    """
    path = find_config("arena", name_or_path)
    return make_config(read_toml(path), f"{path}: ")


def make_config(keys: Mapping[str, Any], where: str = "") -> ArenaConfig:
    """Returns the tournament of plain data.

    Args:
        keys: of `ArenaConfig`.
        where: what an error's message begins with.

    Raises:
        TonkError: it is not valid.
    """
    try:
        return ArenaConfig.model_validate(keys)
    except ValidationError as error:
        raise TonkError(f"{where}{one_line(error, ArenaConfig)}") from None
