"""Which code makes a run: self-play, or a solver."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from train import folder
from train.config import AnyConfig, TrainConfig, load_config


def trainer_of(config: AnyConfig | None, resume: Path | None) -> Callable[..., Path]:
    """Returns what trains by a config, or goes on with a run: called with `(config, out=, resume=)`.

    Raises:
        TonkError: the folder is not that of a run.
    """
    if config is None and resume is not None:
        folder.read_manifest(resume)
        config = load_config(resume / folder.CONFIG)
    is_solver = config is not None and not isinstance(config, TrainConfig)
    trainer: Any = (
        importlib.import_module("train.cfr.run").solve
        if is_solver
        else importlib.import_module("train.run").train
    )
    return trainer  # type: ignore[no-any-return]
