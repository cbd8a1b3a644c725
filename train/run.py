"""One training run in its folder: start or resume it, measure it, keep the best, end it cleanly.

runs/<name>-<n>/
    config.toml        every option, written out
    manifest.json      rules, fingerprints, seeds, versions, precision, commit, command
    train.log          what happened, by decisions; times.jsonl has when
    events.*           TensorBoard
    best.zip           the checkpoint that did best against the anchors
    latest.zip         the last one; checkpoints/ has all
    state.pt           what --resume needs beside them
    result.json        the best one's scores on fresh decks, at the end
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from agents.neural.agent import NeuralAgent
from agents.neural.checkpoint import Manifest, add_manifest, read_checkpoint, replace_file
from agents.neural.network import Weights, choose_precision
from arena.anchors import AnchorResult
from tonk_env.errors import TonkError
from train import folder
from train.config import TrainConfig, dump_config, load_train_config
from train.curves import Curves
from train.game import Evaluate, Game, check_anchors, evaluate, margin, open_game
from train.selfplay.ppo import SelfPlayPPO
from train.selfplay.tables import TablesEnv
from train.session import Journal, Stopped, ctrl_c, make_progress, one_thread

_NEVER_DROPS = 0.05
"""Share of hands ended by a drop below which play is likely stuck on never dropping."""
_SETTLING = 500_000
"""Decisions before that is worth an alarm: dropping at random is unlearned first, then learned well."""


class Run(BaseCallback):
    """What happens around the learning: checkpoints, evaluations, log, progress.

    Everything is done between two updates, when the model's state is small and whole.
    """

    model: SelfPlayPPO

    def __init__(self, path: Path, config: TrainConfig, game: Game, evaluate: Evaluate, console: Console):
        super().__init__()
        self.path, self.config, self.game, self.evaluate = path, config, game, evaluate
        self.about = folder.read_manifest(path)
        self.best: dict[str, Any] | None = None
        self.evaluated_at = self.saved_at = self.done_at = 0
        self.stop = self.alarmed = False
        self.journal, self.progress = Journal(path, "decisions", console), make_progress(console)
        self.bar = self.progress.add_task(config.run.name, total=config.run.total_decisions, note="")

    # ------------------------------------------------------------------ hooks

    def _on_step(self) -> bool:
        return True

    def _on_training_start(self) -> None:
        self.started, self.started_at = time.perf_counter(), self.model.num_timesteps

    def _on_rollout_start(self) -> None:
        decisions = self.model.num_timesteps
        if decisions == self.done_at:
            return  # nothing is new at the very start, or just after taking the run up again
        self.done_at = decisions
        self._check_health()
        self.progress.update(self.bar, completed=decisions, note=self._note())
        if self._is_due(self.config.evaluation.every):
            self.measure()
        if self.stop or self._is_due(self.config.run.checkpoint_every):
            self.save()
        if self.stop:
            raise Stopped

    def _is_due(self, interval: int) -> bool:
        now = self.model.num_timesteps
        return now // interval > (now - self.config.decisions_per_rollout) // interval

    def _note(self) -> str:
        speed = (self.model.num_timesteps - self.started_at) / max(time.perf_counter() - self.started, 1e-9)
        return f"{speed:,.0f} decisions/s"

    def _check_health(self) -> None:
        """Stops a run that fell apart; speaks up when play is stuck on never dropping."""
        last = self.model.last_record
        if not math.isfinite(last.get("train/loss", 0.0)):
            raise TonkError(
                f"{self.path}: training diverged at {self.model.num_timesteps:,} decisions: the loss is not "
                "a number; try a smaller ppo.learning_rate"
            )
        rate = last.get("game/drop_rate")
        if rate is None or not self.game.can_drop or self.model.num_timesteps < _SETTLING:
            return
        if rate < _NEVER_DROPS and not self.alarmed:
            self.log(
                f"ALARM: only {rate:.1%} of hands end by a drop: play may be stuck on never dropping; more "
                "rollout.tables, rollout.steps or ppo.entropy gets it out",
            )
        self.alarmed = rate < _NEVER_DROPS

    # -------------------------------------------------------------------- log

    def log(self, message: str) -> None:
        """Writes a line to the screen and to train.log."""
        self.journal.log(self.model.num_timesteps if self.model else 0, message)

    # ------------------------------------------------------------- checkpoint

    def manifest(self) -> Manifest:
        """What a checkpoint made now says of itself."""
        return Manifest(
            name=self.path.name,
            rules=self.config.game.rules,
            rules_options=self.about["rules"]["options"],
            rules_fingerprint=self.game.rules_fingerprint,
            players=self.config.game.players,
            actions_fingerprint=self.game.actions_fingerprint,
            observation_fingerprint=self.game.observation_fingerprint,
            decisions=self.model.num_timesteps,
            seed=self.config.run.seed,
            precision=self.model.precision,
            average_decay=self.model.average_decay,
            versions=self.about["versions"],
            commit=self.about["commit"],
        )

    def save_agent(self, *places: Path) -> None:
        """Writes the weights that play as a checkpoint, in each of `places`."""
        for place in places:
            made = place.with_name(f".{place.name}.part")
            # A stream, because stable-baselines3 adds its own suffix to a path.
            with made.open("wb") as stream:
                self.model.save_playing(stream)
            add_manifest(made, self.manifest())
            replace_file(place, made)

    def save(self) -> None:
        """Writes a checkpoint: an agent, and all that `resume` needs."""
        decisions = self.model.num_timesteps
        if decisions == self.saved_at:
            return
        self.saved_at = decisions
        self.save_agent(self.path / folder.CHECKPOINTS / f"{decisions}.zip", self.path / folder.LATEST)
        # Last, and in one piece: until it is in place the run is taken up from the checkpoint before.
        folder.write_state(
            self.path / folder.STATE,
            {
                "decisions": decisions,
                "evaluated_at": self.evaluated_at,
                "alarmed": self.alarmed,
                "best": json.dumps(self.best),
                "model": self.model.training_state(),
                "tables": torch.frombuffer(bytearray(self.game.tables.get_state()), dtype=torch.uint8),
            },
        )

    def resume(self) -> None:
        """Goes on from the last checkpoint."""
        state = folder.read_state(self.path / folder.STATE)
        self.model.set_training_state(state["decisions"], state["model"])
        self.game.tables.set_state(state["tables"].numpy().tobytes())
        self.best, self.alarmed = json.loads(state["best"]), state["alarmed"]
        self.evaluated_at = state["evaluated_at"]
        self.saved_at = self.done_at = state["decisions"]
        self.progress.update(self.bar, completed=state["decisions"])

    # ------------------------------------------------------------- evaluation

    def _results(
        self, weights: Weights, manifest: Manifest, name: str, deals: int, purpose: int
    ) -> Sequence[AnchorResult]:
        # Far from the seeds of training's decks; the same decks at every evaluation, so that they compare
        # well.
        seed = int(np.random.default_rng([self.config.run.seed, purpose]).integers(2**40, 2**41))
        agent = NeuralAgent(weights, manifest, name)
        evaluation, players = self.config.evaluation, self.config.game.players
        return self.evaluate(agent, evaluation.anchors, self.game.rules, players, deals, seed)

    def _log_results(self, what: str, results: Sequence[AnchorResult]) -> None:
        parts = [f"{one.stakes_per_hand:+.4f} ± {one.ci_half:.4f} against {one.anchor}" for one in results]
        self.log(f"{what}, sampled, stakes per hand: {', '.join(parts)}")

    def measure(self) -> None:
        """Plays against the anchors, and keeps the checkpoint if it is the best so far."""
        decisions, evaluation = self.model.num_timesteps, self.config.evaluation
        if not evaluation.anchors or decisions == self.evaluated_at:
            return
        self.evaluated_at = decisions
        weights = Weights.of_state(self.model.playing_state())
        results = self._results(weights, self.manifest(), self.path.name, evaluation.deals, purpose=1)
        for one in results:
            self.model.logger.record(f"anchors/stake_vs_{one.anchor}", one.stakes_per_hand)
            self.model.logger.record(f"anchors/ci_half_{one.anchor}", one.ci_half)
        self.model.logger.dump(decisions)
        self._log_results("evaluation", results)
        found = margin(evaluation.anchors, results, evaluation.keep)
        if self.best is None or found > self.best["margin"]:
            self.best = {"decisions": decisions, "margin": found}
            self.save_agent(self.path / folder.BEST)

    def finish(self) -> None:
        """Measures and saves the end of the run, and scores the best on decks it was not chosen by."""
        self.measure()
        self.save()
        result: dict[str, Any] = {"decisions": self.model.num_timesteps, "best": self.best}
        if self.best is None:
            self.save_agent(self.path / folder.BEST)
        else:
            manifest, weights = read_checkpoint(self.path / folder.BEST)
            deals = self.config.evaluation.final_deals
            results = self._results(weights, manifest, f"{self.path.name} (best)", deals, purpose=2)
            self._log_results(f"best, after {manifest.decisions:,} decisions, on fresh decks", results)
            result["policy"] = "sampled"
            result["deals"] = deals
            result["fresh"] = [vars(one) for one in results]
        folder.write_json(self.path / folder.RESULT, result)
        self.log(f"done: {self.path / folder.BEST}")

    def close(self) -> None:
        """Closes the files."""
        self.journal.close()
        self.model.logger.close()


def _describe(config: TrainConfig, game: Game, precision: str) -> dict[str, Any]:
    """The manifest of a new run."""
    return {
        "format": "tonk-run/1",
        "command": folder.command(),
        "config": config.model_dump(),
        "seed": config.run.seed,
        "precision": precision,
        "rules": {
            "fingerprint": game.rules_fingerprint,
            "options": {} if game.rules is None else game.rules.rules.model_dump(mode="json"),
        },
        "actions_fingerprint": game.actions_fingerprint,
        "observation_fingerprint": game.observation_fingerprint,
        "observation_size": game.tables.observation_size,
        "num_actions": game.tables.num_actions,
        "versions": folder.versions(),
        "commit": folder.commit(),
    }


def _check_same_game(path: Path, about: dict[str, Any], game: Game) -> None:
    now = {
        "rules": game.rules_fingerprint,
        "action table": game.actions_fingerprint,
        "observations": game.observation_fingerprint,
    }
    then = {
        "rules": about["rules"]["fingerprint"],
        "action table": about["actions_fingerprint"],
        "observations": about["observation_fingerprint"],
    }
    for what, fingerprint in now.items():
        if fingerprint != then[what]:
            raise TonkError(
                f"{path}: cannot resume: its {what} are not those of this version "
                f"({then[what]}, now {fingerprint})"
            )


def _make_model(config: TrainConfig, game: Game, precision: str) -> SelfPlayPPO:
    ppo = config.ppo
    return SelfPlayPPO(
        env=TablesEnv(game.tables, game.ending_names),
        learning_rate=(ppo.learning_rate, ppo.final_learning_rate),
        entropy_coef=(ppo.entropy, ppo.final_entropy),
        n_steps=config.rollout.steps,
        batch_size=ppo.batch,
        n_epochs=ppo.epochs,
        gae_lambda=ppo.trace,
        clip_range=ppo.clip,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_gradient,
        layers=config.network.layers,
        average_decay=ppo.average,
        precision=precision,
        seed=config.run.seed,
    )


def train(
    config: TrainConfig | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    evaluate: Evaluate = evaluate,
    open_game: Callable[[TrainConfig], Game] = open_game,
    console: Console | None = None,
) -> Path:
    """Trains an agent, or goes on with a run that was stopped.

    Args:
        config: the options of a new run; a run that is taken up again has its own.
        out: the folder that run folders go in; `runs` by default.
        resume: the folder of the run to go on with.
        evaluate: how to measure strength; in the arena by default.
        open_game: sets up the tables.
        console: where to show progress; standard error by default.

    Returns:
        The run's folder.

    Raises:
        TonkError: the config cannot be played, the folder cannot be written, or there is nothing to resume.
        KeyboardInterrupt: Ctrl-C; what was learned up to the last update is saved, and the run can be
            resumed.
    """
    console = console or Console(stderr=True)
    if resume is not None:
        path = Path(resume)
        about = folder.read_manifest(path)
        config = load_train_config(path / folder.CONFIG)
        game, precision = open_game(config), about["precision"]
        _check_same_game(path, about, game)
    elif config is not None:
        game, precision = open_game(config), choose_precision(config.network.precision)
        if game.rules is not None:
            check_anchors(config.evaluation.anchors, game.rules, config.game.players)
        path = folder.new_folder(Path(out or "runs"), config.run.name)
        folder.write_text(path / folder.CONFIG, dump_config(config))
        folder.write_json(path / folder.MANIFEST, _describe(config, game, precision))
    else:
        raise TonkError("train: a config to start with or a run to resume is needed")
    with one_thread():
        _train(path, config, game, precision, evaluate, resume is not None, console)
    return path


def _train(
    path: Path,
    config: TrainConfig,
    game: Game,
    precision: str,
    evaluate: Evaluate,
    again: bool,
    console: Console,
) -> None:
    run = Run(path, config, game, evaluate, console)
    run.model = model = _make_model(config, game, precision)
    if again:
        run.resume()
    model.set_logger(Logger(str(path), [Curves(path, model.num_timesteps)]))
    total = config.run.total_decisions
    if again:
        run.log(f"resumed {path} at {model.num_timesteps:,} of {total:,} decisions")
        run.journal.note_versions(model.num_timesteps, run.about["versions"])
    else:
        run.log(f"{path}: {total:,} decisions, {precision}; curves: tensorboard --logdir {path.parent}")
    try:
        with ctrl_c(lambda: setattr(run, "stop", True)), run.progress:
            if model.num_timesteps < total:
                model.learn(total - model.num_timesteps, callback=run, reset_num_timesteps=not again)
            run.finish()
    except Stopped:
        run.log(f"stopped; go on with: tonk train --resume {os.path.relpath(path)}")
        raise KeyboardInterrupt from None
    finally:
        run.close()
