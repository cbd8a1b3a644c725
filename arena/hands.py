"""One row for each hand, as a Parquet file beside the results; needs pyarrow.

Every batch is a part of its own, on the disk before its line is in `blocks.jsonl`. In the end the parts are
put together by number, so the file is the same however the tournament was played. Parts and file say which
tournament they are of: none is taken for another's.
"""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.blocks import GroupHands
from arena.store import open_whole
from tonk_env.engine.state import ENDINGS
from tonk_env.errors import TonkError

HANDS, PARTS = "hands.parquet", "hands.parts"

_TOURNAMENT = b"tournament"  # the key of what a file says of itself

Rows = dict[str, npt.NDArray[Any]]


class HandRows:
    """Keeps a row for each hand of a batch: a watcher (`arena.blocks.Watcher`).

    Args:
        groups: who meets whom; rows of a block are in this order.
    """

    def __init__(self, groups: Sequence[tuple[int, ...]]) -> None:
        self._number = {group: number for number, group in enumerate(groups)}
        self._found: list[Rows] = []

    def __call__(self, hands: GroupHands) -> None:
        """Keeps hands."""
        tables, count = hands.played.tables, len(hands.seating)
        block, seating = np.divmod(np.arange(count), hands.seatings)
        rows: Rows = {
            "block": hands.first + block,
            "group": np.full(count, self._number[hands.group]),
            "seating": seating,
            "hand": np.full(count, hands.number),
            "deck": hands.played.decks,
            "dealer": tables["dealer"],
            "ending": tables["ending"],
            "by": tables["ending_seat"],
            "moves": tables["moves"],
        }
        for seat in range(hands.seating.shape[1]):
            rows[f"agent_{seat}"] = hands.seating[:, seat]
            rows[f"payment_{seat}"] = hands.played.payments[:, seat]
            rows[f"count_{seat}"] = tables["counts"][:, seat]
        # A column of the tables would keep the whole of them.
        self._found.append({name: np.array(column) for name, column in rows.items()})

    def sorted(self) -> Rows:
        """Returns the rows by block, group, seating and hand, whatever was played at once."""
        rows = {name: np.concatenate([each[name] for each in self._found]) for name in self._found[0]}
        order = np.lexsort([rows[name] for name in ("hand", "seating", "group", "block")])
        return {name: column[order] for name, column in rows.items()}


class HandTable:
    """The rows of a tournament in its folder.

    Args:
        folder: the tournament's.
        header: what fixes its result, as plain data.
        names: of the agents, by number.
        players: seats at a table.

    Raises:
        TonkError: pyarrow is not installed.
    """

    def __init__(self, folder: Path, header: dict[str, Any], names: Sequence[str], players: int) -> None:
        self._arrow, self._parquet = _import("pyarrow"), _import("pyarrow.parquet")
        self._target, self._parts = folder / HANDS, folder / PARTS
        self._names = names
        self._agents = [f"agent_{seat}" for seat in range(players)]
        pa, seats = self._arrow, range(players)
        self._schema = pa.schema(
            [
                ("block", pa.int64()),
                ("seating", pa.int16()),
                ("hand", pa.int16()),
                ("deck", pa.int64()),
                *((name, pa.dictionary(pa.int16(), pa.string())) for name in self._agents),
                ("dealer", pa.int8()),
                ("ending", pa.dictionary(pa.int8(), pa.string())),
                ("by", pa.int8()),
                *((f"payment_{seat}", pa.float64()) for seat in seats),
                ("moves", pa.int16()),
                *((f"count_{seat}", pa.int16()) for seat in seats),
            ],
            metadata={_TOURNAMENT: json.dumps(header).encode()},
        )

    def _part(self, number: int) -> Path:
        return self._parts / f"{number}.arrow"

    def write(self, number: int, rows: Rows) -> None:
        """Writes the part of a batch, whole or not at all.

        Raises:
            TonkError: it cannot be written.
        """
        words = {**dict.fromkeys(self._agents, self._names), "ending": ENDINGS}
        columns = []
        for field in self._schema:
            said = words.get(field.name)
            if said is None:
                columns.append(self._arrow.array(rows[field.name], field.type))
            else:
                places = self._arrow.array(rows[field.name], field.type.index_type)
                columns.append(self._arrow.DictionaryArray.from_arrays(places, list(said)))
        batch = self._arrow.RecordBatch.from_arrays(columns, schema=self._schema)
        with (
            open_whole(self._part(number)) as stream,
            self._arrow.ipc.new_file(stream, self._schema) as writer,
        ):
            writer.write_batch(batch)

    def _open(self, number: int) -> Any:
        return self._arrow.ipc.open_file(self._arrow.OSFile(str(self._part(number))))

    def has(self, number: int) -> bool:
        """Tells whether the rows of a batch are there."""
        if self.is_whole():
            return True
        try:
            with self._open(number) as reader:
                return bool(reader.schema.equals(self._schema, check_metadata=True))
        except (OSError, self._arrow.ArrowInvalid):
            return False

    def is_whole(self) -> bool:
        """Tells whether the rows of the whole tournament are there, put together."""
        try:
            schema = self._parquet.read_schema(self._target)
        except (OSError, self._arrow.ArrowInvalid):
            return False
        said = (schema.metadata or {}).get(_TOURNAMENT)
        return bool(said == self._schema.metadata[_TOURNAMENT])

    def join(self, counted: Iterable[tuple[int, frozenset[int]]]) -> None:
        """Puts the parts together, and removes them.

        Args:
            counted: the batches that count, in order, each with the agents whose hands in it do not.

        Raises:
            TonkError: it cannot be written.
        """
        if not self.is_whole():
            with (
                open_whole(self._target) as stream,
                self._parquet.ParquetWriter(stream, self._schema, compression="zstd") as writer,
            ):
                for batch in self._read(counted):
                    writer.write_batch(batch)
        shutil.rmtree(self._parts, ignore_errors=True)

    def _read(self, counted: Iterable[tuple[int, frozenset[int]]]) -> Iterator[Any]:
        for number, left in counted:
            with self._open(number) as reader:
                batch = reader.get_batch(0)
            if left:
                seating = np.stack([np.asarray(batch.column(name).indices) for name in self._agents])
                batch = batch.filter(self._arrow.array(~np.isin(seating, list(left)).any(0)))
            if len(batch):
                yield batch


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = error.name or name
        raise TonkError(
            f"hands: needs {missing}, which is not installed: pip install 'tonk[parquet]'"
        ) from None
