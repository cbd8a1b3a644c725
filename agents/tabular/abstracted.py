"""A table of strategies over an abstraction: the agent, and the file it is kept in.

The file is a NumPy archive with three members: `manifest` (JSON), `keys` `[K]` int64, ascending, and `chances`
`[K, NUM_MOVES]` uint8, of each macro move in 255ths of the largest. Nothing in it is ever run.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.base import Views
from agents.bot import make_tools
from agents.reference import reference
from agents.tabular.abstraction import NUM_FEATURES, Abstraction, key_of
from agents.tabular.moves import NUM_MOVES, follow_rule, offer
from agents.tabular.slots import find, make_slots, put_all
from tonk_env._jit import below, jit
from tonk_env.errors import TonkError
from tonk_env.limits import CHECKPOINT_FORMAT
from tonk_env.rules import LoweredRules

_ONE = 1 << 31
_MOST_BYTES = 1 << 28
_MEMBERS = ("manifest", "keys", "chances")


class Manifest(BaseModel):
    """What a table says of itself.

    Attributes:
        format: version of this file.
        kind: what the other members are.
        name: the run that made it.
        rules: name or path of the rules it was trained on.
        rules_options: every option of those rules.
        rules_fingerprint: of those rules.
        players: seats at the table.
        abstraction: what it tells apart.
        hands: how many it was trained on.
        seed: of the run.
        versions: of the libraries, by name.
        commit: of the source, where known.
    """

    model_config = ConfigDict(frozen=True)

    format: str = CHECKPOINT_FORMAT
    kind: Literal["abstracted"] = "abstracted"
    name: str
    rules: str
    rules_options: dict[str, Any] = {}
    rules_fingerprint: str
    players: int
    abstraction: Abstraction
    hands: int
    seed: int
    versions: dict[str, str] = {}
    commit: str | None = None


class AbstractedAgent:
    """Draws a macro move by a table, and plays what it stands for.

    It plays any rules and number of players, for the features are counted from any view; a decision that the
    table has not met is made as `reference` makes it, and so is all that macro moves leave open.

    Args:
        manifest: what the table was made for.
        keys: `[K]` int64, of decisions.
        chances: `[K, NUM_MOVES]` uint8.
        name: the spec string it goes by.
    """

    def __init__(
        self, manifest: Manifest, keys: npt.NDArray[np.int64], chances: npt.NDArray[np.uint8], name: str
    ) -> None:
        self.name, self.manifest = name, manifest
        self._slots, places = make_slots(len(keys)), np.zeros(len(keys), np.int64)
        put_all(self._slots, keys, places)
        self._chances = np.zeros((len(self._slots), NUM_MOVES), np.uint8)
        self._chances[places] = chances
        self._plan, self._styles = manifest.abstraction.compile()
        self._rule = reference()
        self._rules: LoweredRules | None = None

    @classmethod
    def load(cls, path: str | Path) -> AbstractedAgent:
        """Reads a table.

        Raises:
            TonkError: it is not there, damaged or foreign.
        """
        return cls(*read_table(Path(path)), str(path))

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Begins a session; see `agents.base.Agent`. Warns where the game is another than in training."""
        trained = self.manifest
        if (rules.fingerprint, num_players) != (trained.rules_fingerprint, trained.players):
            warnings.warn(
                f"{self.name}: another game than in training; it was trained on {trained.rules} with "
                f"{trained.players} players",
                stacklevel=2,
            )
        self._rules, self._tools = rules, make_tools(rules, num_players)
        self._rule.start(rules, num_players, seed)

    def act(
        self,
        views: Views,
        legal: npt.NDArray[np.int16],
        num_legal: npt.NDArray[np.int64],
        keys: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        """Draws a move for each view; see `agents.base.Agent`."""
        actions = np.zeros(len(views), np.int32)
        draw_rows(self.probabilities(views, legal, num_legal), legal, num_legal, keys, actions)
        return actions

    def probabilities(
        self, views: Views, legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Returns the probability of each legal move; see `agents.base.Mixed`."""
        assert self._rules is not None, "start comes first"
        found = np.zeros(legal.shape)
        mix_rows(
            views,
            legal,
            num_legal,
            self._rules.record,
            self._tools,
            self._plan,
            self._styles,
            self._rule.style,
            self._slots,
            self._chances,
            np.zeros_like(legal),
            np.zeros((1, NUM_MOVES), np.int64),
            np.zeros(NUM_FEATURES, np.int64),
            np.zeros(len(views), np.int32),
            found,
        )
        return found

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        """Nothing is learned from results."""


@jit
def mix_rows(
    views: Any,
    legal: Any,
    num_legal: Any,
    rules: Any,
    tools: Any,
    plan: Any,
    styles: Any,
    rule: Any,
    slots: Any,
    chances: Any,
    discards: Any,
    moves: Any,
    facts: Any,
    actions: Any,
    found: Any,
) -> None:
    """Writes the probability of each legal move into `found` `[N, max_legal]` float64, which holds zeros.

    `discards` to `actions` are scratch space; what the others are, `AbstractedAgent` says.
    """
    follow_rule(views, legal, num_legal, rules, rule, tools, actions)
    for j in range(views.shape[0]):
        row, slot, total = np.int64(0), -1, 0
        if num_legal[j] > 1:
            offered = offer(
                views, j, legal, num_legal[j], rules, plan, styles, tools, discards, moves, row
            )
            if offered == 1:
                for move in range(NUM_MOVES):
                    if moves[row, move] >= 0:
                        actions[j] = moves[row, move]
            elif offered:
                slot = find(slots, key_of(views, j, moves, row, rules, plan, styles, tools, facts))
        if slot >= 0:
            for move in range(NUM_MOVES):
                total += int(chances[slot, move]) if moves[row, move] >= 0 else 0
        for at in range(num_legal[j]):
            if total == 0:
                found[j, at] = float(legal[j, at] == actions[j])
                continue
            for move in range(NUM_MOVES):
                if moves[row, move] == legal[j, at]:
                    found[j, at] += int(chances[slot, move]) / total


@jit
def draw_rows(found: Any, legal: Any, num_legal: Any, keys: Any, actions: Any) -> None:
    """Draws an action for each row by its probabilities and its key."""
    for j in range(found.shape[0]):
        left = below(int(keys[j]), _ONE) / _ONE
        for at in range(num_legal[j]):
            if found[j, at] > 0:
                actions[j] = legal[j, at]
                left -= found[j, at]
                if left < 0:
                    break


def write_table(
    path: Path, manifest: Manifest, keys: npt.NDArray[np.int64], chances: npt.NDArray[np.floating[Any]]
) -> None:
    """Writes a table.

    Args:
        path: where to; its suffix is kept.
        manifest: what it says of itself.
        keys: `[K]` int64.
        chances: `[K, NUM_MOVES]`, non-negative, each row with a positive one.
    """
    order = np.argsort(keys)
    scaled = chances[order] / chances[order].max(axis=1, keepdims=True)
    text = np.frombuffer(manifest.model_dump_json().encode(), np.uint8)
    with path.open("wb") as stream:
        np.savez_compressed(
            stream, manifest=text, keys=keys[order], chances=np.rint(255 * scaled).astype(np.uint8)
        )


def read_table(path: Path) -> tuple[Manifest, npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Reads what `write_table` wrote; nothing in the file is run.

    Raises:
        TonkError: it is not there, damaged, or not a table of this version.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MOST_BYTES:
                raise TonkError(f"{path}: holds more than {_MOST_BYTES} bytes")
        with np.load(path, allow_pickle=False) as members:
            text, keys, chances = (members[name] for name in _MEMBERS)
        data = json.loads(text.tobytes())
    except OSError as error:
        raise TonkError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError) as error:
        raise TonkError(f"{path}: not a table of strategies, or damaged: {error}") from None
    version = data.get("format") if isinstance(data, dict) else None
    if version != CHECKPOINT_FORMAT:
        raise TonkError(
            f"{path}: written in format {version!r}; this version of Tonk reads {CHECKPOINT_FORMAT!r}"
        )
    try:
        manifest = Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise TonkError(f"{path}: manifest: {where}: {first['msg']}") from None
    if (keys.dtype, chances.dtype) != (np.int64, np.uint8) or chances.shape != (*keys.shape, NUM_MOVES):
        raise TonkError(f"{path}: damaged: its keys and chances do not fit each other")
    if keys.ndim != 1 or not (keys >= 0).all():
        raise TonkError(f"{path}: damaged: it holds keys that are none")
    return manifest, keys, chances
