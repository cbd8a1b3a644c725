"""The options of a training run, each declared once. Budgets are decisions, never minutes.

`load_config` reads a file and `--set` overrides; `config_reference` writes docs/train-config.md from the
model.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from agents.tabular.abstraction import Abstraction
from tonk_env.errors import TonkError
from tonk_env.invalid import one_line
from tonk_env.resources import find_config, read_toml

Positive = Annotated[int, Field(ge=1)]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _is_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            "a name is made of letters, digits, '_', '-' and '.', and starts with a letter or digit"
        )
    return name


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunSection(_Section):
    """The run as a whole."""

    name: Annotated[str, AfterValidator(_is_name)] = Field(
        "tonk", description="the run folder is `runs/<name>-<n>`, n counting up"
    )
    seed: int = Field(
        1, ge=0, description="of everything random; equal seeds give equal runs on equal machines"
    )
    total_decisions: Positive = Field(
        5_000_000, description="budget: decisions by all seats together, rounded up to whole rollouts"
    )
    checkpoint_every: Positive = Field(
        1_000_000, description="decisions between checkpoints; what a killed run can lose"
    )


class GameSection(_Section):
    """What is played."""

    rules: str = Field("pagat", description="rules: the name of a preset, or a path to a TOML file")
    players: int = Field(2, ge=2, le=6, description="seats at each table")


class RolloutSection(_Section):
    """How experience is collected: the current network plays every seat."""

    tables: Positive = Field(
        512,
        le=65_536,
        description="tables side by side; 512 with 64 steps learns to drop, 256 with 32 did not",
    )
    steps: Positive = Field(
        64, le=4096, description="decisions at each table before the network learns from them"
    )


class NetworkSection(_Section):
    """The network: one trunk with rectifiers, a policy head and a value head on it."""

    layers: tuple[Annotated[int, Field(ge=8, le=4096)], ...] = Field(
        (256, 256), min_length=1, max_length=8, description="widths of the trunk's layers"
    )
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="of the dense matrix products; auto: bf16 where a short timing says it is clearly faster",
    )


class PpoSection(_Section):
    """How the network learns from a rollout: PPO with clipped ratios."""

    epochs: Positive = Field(2, le=100, description="passes over each rollout")
    batch: Annotated[int, Field(ge=2)] = Field(4096, description="decisions per step of the optimiser")
    learning_rate: float = Field(
        1.5e-3, gt=0, le=1, description="Adam's step size at the start; linear in between"
    )
    final_learning_rate: float = Field(0.0, ge=0, le=1, description="and at the end")
    entropy: float = Field(
        0.08,
        ge=0,
        le=10,
        description="weight of the entropy bonus at the start: 0.03 may never learn to drop",
    )
    final_entropy: float = Field(0.005, ge=0, le=10, description="and at the end; linear in between")
    clip: float = Field(
        0.2, gt=0, lt=1, description="how far the ratio of new to old probability may move from 1"
    )
    trace: float = Field(
        0.95,
        ge=0,
        le=1,
        description="lambda of generalised advantages: 1 trusts payments only, 0 the next value only",
    )
    value_weight: float = Field(
        0.5, ge=0, le=100, description="weight of the value's squared error in the loss"
    )
    max_gradient: float = Field(0.5, gt=0, description="longer gradients are cut to this norm")
    average: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="decay, per rollout, of a running average of the weights; above 0 the average is what is "
        "evaluated and shipped",
    )


class EvaluationSection(_Section):
    """How strength is measured while training: duplicate hands against fixed agents, the policy sampled."""

    every: Positive = Field(
        5_000_000, description="decisions between evaluations; there is always one at the end"
    )
    deals: Positive = Field(
        5_000,
        description="deals per anchor, each played once per rotation of the seats; training never sees them",
    )
    final_deals: Positive = Field(
        20_000,
        description="deals per anchor when the best is scored once more at the end, on fresh decks",
    )
    anchors: tuple[str, ...] = Field(
        ("random", "heuristic:drop=25", "reference"),
        description="agents to measure against; none: no evaluation",
    )
    keep: str = Field(
        "worst",
        description="what makes a checkpoint the best: `worst` (the smallest of the margins, so that none is "
        "bought with losses elsewhere), `mean` (of the margins), or one anchor's name",
    )

    @model_validator(mode="after")
    def _check(self) -> EvaluationSection:
        if self.keep not in ("worst", "mean", *self.anchors):
            raise ValueError(f"keep = {self.keep!r} is not worst, mean or one of the anchors")
        return self


class TrainConfig(_Section):
    """Every option of a training run."""

    run: RunSection = RunSection()
    game: GameSection = GameSection()
    rollout: RolloutSection = RolloutSection()
    network: NetworkSection = NetworkSection()
    ppo: PpoSection = PpoSection()
    evaluation: EvaluationSection = EvaluationSection()

    @model_validator(mode="after")
    def _check(self) -> TrainConfig:
        if self.ppo.batch > self.decisions_per_rollout:
            raise ValueError(
                f"ppo.batch = {self.ppo.batch} is more than a rollout, "
                f"rollout.tables × rollout.steps = {self.decisions_per_rollout}"
            )
        return self

    @property
    def decisions_per_rollout(self) -> int:
        """Decisions between two updates of the network."""
        return self.rollout.tables * self.rollout.steps


class SolverRunSection(_Section):
    """The run as a whole."""

    name: Annotated[str, AfterValidator(_is_name)] = Field(
        "solution", description="the run folder is `runs/<name>-<n>`, n counting up"
    )
    seed: int = Field(1, ge=0, description="of everything random; equal seeds give equal runs")
    total_iterations: Positive = Field(1_000, description="budget: iterations, rounded up to whole steps")
    measure_every: Positive = Field(100, description="iterations between measurements")
    checkpoint_every: Positive = Field(
        1_000, description="iterations between checkpoints; what a killed run can lose"
    )
    target: float = Field(
        0.0, ge=0, description="stop once this exploitability is measured, in stakes per hand; 0: never"
    )


class SolverSection(_Section):
    """Which solver goes over a game small enough to be expanded as a whole."""

    method: Literal["cfr", "cfr+", "lcfr", "dcfr", "external", "outcome"] = Field(
        "dcfr",
        description="the first four go over the whole game in an iteration; `external` and `outcome` draw a "
        "part of it (docs/solvers.md)",
    )
    linear: bool = Field(True, description="sampling: the t-th iteration has weight t")
    exploration: float = Field(
        0.6, gt=0, le=1, description="`outcome`: share of a seat's own moves that are drawn uniformly"
    )
    batch: Positive = Field(10_000, description="sampling: iterations in a step")


class SolverConfig(_Section):
    """Every option of a solver's run."""

    run: SolverRunSection = SolverRunSection()
    game: GameSection = GameSection()
    solver: SolverSection


class MonteCarloSection(_Section):
    """How hands are sampled, where a game is too large to be expanded and an abstraction takes its place."""

    method: Literal["external", "outcome", "rollouts"] = Field(
        "rollouts",
        description="which moves of the seat that learns are followed: all at every decision, one, or all of "
        "each decision on one way through the hand, each played out once (docs/solvers.md)",
    )
    branches: Annotated[int, Field(ge=1, le=64)] = Field(
        1, description="`rollouts`: decisions, one below the other, before a hand is played out"
    )
    exploration: float = Field(
        0.3, gt=0, le=1, description="share of that seat's own way that is drawn uniformly, not by policy"
    )
    hands: Positive = Field(1_000, le=1_000_000, description="hands in a block, which a thread walks through")
    blocks: Positive = Field(
        2, le=64, description="blocks in a batch; policies stay as they are until its end"
    )
    threads: Positive = Field(1, le=64, description="that share the blocks; the result is the same")
    least: float = Field(
        0.0,
        ge=0,
        le=1,
        description="moves less likely than this part of a decision's likeliest are left out of the table "
        "that plays",
    )


class AnchorsSection(_Section):
    """How strength is measured while solving: duplicate hands against fixed agents, the policy sampled."""

    anchors: tuple[str, ...] = Field(
        ("random", "heuristic:drop=25", "reference"), description="agents to measure against"
    )
    deals: Positive = Field(
        5_000,
        description="deals per anchor, each played once per rotation of the seats; training never sees them",
    )


class AbstractConfig(_Section):
    """Every option of a solver's run on a game that is too large to be expanded."""

    run: SolverRunSection = SolverRunSection()
    game: GameSection = GameSection()
    monte_carlo: MonteCarloSection
    abstraction: Abstraction = Abstraction()
    evaluation: AnchorsSection = AnchorsSection()


class DeepSection(_Section):
    """How hands are sampled and networks trained by Deep CFR."""

    hands: Positive = Field(
        1_000, le=1_000_000, description="hands that an iteration walks through for each seat that learns"
    )
    branches: int = Field(
        1_000,
        ge=0,
        description="decisions of that seat in a hand below whose moves, all of them, the walk goes on; at "
        "later ones all moves are looked at too, but the hand is played out after all but one",
    )
    exploration: float = Field(
        0.5, gt=0, le=1, description="share of those single moves that is drawn uniformly, not by strategy"
    )
    memory: Positive = Field(
        400_000, description="decisions kept in each of two memories, a uniform sample of all there were"
    )
    layers: tuple[Annotated[int, Field(ge=8, le=4096)], ...] = Field(
        (128, 128), min_length=1, max_length=8, description="widths of the networks' trunks"
    )
    anew: bool = Field(
        True, description="the network of advantages is trained from nothing in each iteration, not on"
    )
    steps: Positive = Field(300, description="of the optimiser, in each iteration")
    average_steps: Positive = Field(
        3_000,
        description="of the optimiser, for the network of the average strategy, whenever it is asked for",
    )
    batch: Positive = Field(1_024, description="decisions per step of the optimiser")
    learning_rate: float = Field(
        3e-3, gt=0, le=1, description="Adam's step size at the start; it falls linearly to a twentieth"
    )


class DeepEvaluationSection(AnchorsSection):
    """How strength is measured while solving: exactly, or by duplicate hands against fixed agents."""

    exact: bool = Field(False, description="exploitability, in games small enough to be expanded")


class DeepConfig(_Section):
    """Every option of a run of Deep CFR."""

    run: SolverRunSection = SolverRunSection()
    game: GameSection = GameSection()
    deep: DeepSection
    evaluation: DeepEvaluationSection = DeepEvaluationSection()


AnyConfig: TypeAlias = TrainConfig | SolverConfig | AbstractConfig | DeepConfig
_BY_SECTION: Mapping[str, type[AnyConfig]] = {
    "solver": SolverConfig,
    "monte_carlo": AbstractConfig,
    "deep": DeepConfig,
}
"""The section that says what a config is of; without any of them it is of self-play."""


def _model_of(data: Mapping[str, Any]) -> type[AnyConfig]:
    return next((model for section, model in _BY_SECTION.items() if section in data), TrainConfig)


def _set(data: dict[str, Any], assignment: str) -> None:
    """Puts one `section.key=value` into a table; the value is read as TOML, or else as a plain string."""
    key, equals, text = assignment.partition("=")
    section, dot, option = key.strip().partition(".")
    if not (equals and dot and option):
        raise TonkError(f"--set {assignment}: write it as section.key=value, for example ppo.epochs=3")
    try:
        value = tomllib.loads(f"value = {text.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    table = data.setdefault(section, {})
    if not isinstance(table, dict):
        raise TonkError(f"--set {assignment}: {section} is not a section")
    table[option] = value


def make_config(data: Mapping[str, Any], where: str = "config") -> Any:
    """Returns the config meant by a table: a `TrainConfig`, or of a solver where it has the section for one.

    Raises:
        TonkError: an unknown option, or a value that is not allowed; the message names both.
    """
    model = _model_of(data)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise TonkError(f"{where}: {one_line(error, model)}") from None


def load_config(name_or_path: str | Path, overrides: Iterable[str] = ()) -> Any:
    """Reads a config: one that ships, by name or path, or any TOML file; see `make_config`.

    Args:
        name_or_path: what `tonk_env.resources.find_config` takes.
        overrides: `section.key=value` each, later ones win.

    Raises:
        TonkError: no such file, not TOML, or not a valid config.
    """
    path = find_config("train", name_or_path)
    data = read_toml(path)
    for assignment in overrides:
        _set(data, assignment)
    return make_config(data, str(path))


def load_train_config(name_or_path: str | Path) -> TrainConfig:
    """Reads a config that is one of self-play.

    Raises:
        TonkError: as `load_config`, or it is of another kind.
    """
    config = load_config(name_or_path)
    if not isinstance(config, TrainConfig):
        raise TonkError(f"{name_or_path}: not a config of self-play")
    return config


def _toml_value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_toml_value(part)}' for name, part in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def dump_config(config: AnyConfig) -> str:
    """Returns a config as TOML, every option written out."""
    lines = []
    for section, options in config.model_dump().items():
        lines.append(f"[{section}]")
        lines += [f"{name} = {_toml_value(value)}" for name, value in options.items()]
        lines.append("")
    return "\n".join(lines)


def _allowed(schema: Mapping[str, Any]) -> str:
    """The type and range of an option, from its JSON schema."""
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if schema["type"] == "object":
        return f"table of {_allowed(schema['additionalProperties'])}"
    if schema["type"] == "array":
        return f"list of {_allowed(schema['items'])}"
    bounds = [
        f"{sign} {schema[key]:,}"
        for key, sign in (
            ("minimum", "≥"),
            ("exclusiveMinimum", ">"),
            ("maximum", "≤"),
            ("exclusiveMaximum", "<"),
        )
        if key in schema
    ]
    return " ".join([schema["type"], ", ".join(bounds)]).strip()


def config_reference() -> str:
    """Returns docs/train-config.md: every option with its type, range, default and meaning."""
    lines = [
        "# Options of a training config",
        "",
        "Generated from `train/config.py`. A config is a TOML file; what it leaves out has the default. On",
        "the command line, `tonk train CONFIG --set section.key=value` overrides an option, as often as you",
        "like. A config is of self-play, unless it has a section that makes it another kind of run.",
        "",
        *_reference("Self-play", TrainConfig),
    ]
    for section, model in _BY_SECTION.items():
        lines += _reference(f"With a section `[{section}]`", model)
    return "\n".join(lines)


def _reference(title: str, config: type[AnyConfig]) -> list[str]:
    lines = [f"## {title}", "", str(config.__doc__), ""]
    for name, section in config.model_fields.items():
        model: Any = section.annotation
        schema = model.model_json_schema()["properties"]
        lines += [
            f"### `[{name}]`",
            "",
            str(model.__doc__),
            "",
            "| option | type | default | meaning |",
            "|---|---|---|---|",
        ]
        for option, field in model.model_fields.items():
            default = _toml_value(field.default)
            lines.append(f"| `{option}` | {_allowed(schema[option])} | `{default}` | {field.description} |")
        lines.append("")
    return lines


if __name__ == "__main__":
    print(config_reference(), end="")
