"""Configs: defaults, overrides, errors in one line, and a reference that is current."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tonk_env.errors import TonkError
from tonk_env.resources import list_configs
from train.config import TrainConfig, config_reference, dump_config, load_config, make_config

ROOT = Path(__file__).parents[2]


def test_the_reference_in_the_docs_is_current() -> None:
    text = (ROOT / "docs" / "train-config.md").read_text(encoding="utf-8")
    assert text == config_reference(), "run: python -m train.config > docs/train-config.md"


@pytest.mark.parametrize("name", list_configs("train"))
def test_shipped_configs_load(name: str) -> None:
    assert load_config(name).run.name == name


def test_a_dumped_config_reads_back_as_itself() -> None:
    config = make_config(
        {"run": {"name": "x"}, "network": {"layers": [64]}, "ppo": {"final_learning_rate": 1e-5}}
    )
    assert make_config(tomllib.loads(dump_config(config))) == config


def test_overrides_win_and_are_typed() -> None:
    config = load_config(
        "quickstart", ["ppo.epochs=3", "network.layers=[64, 32]", "run.name=mine", "ppo.clip=0.1"]
    )
    assert (config.ppo.epochs, config.network.layers, config.run.name, config.ppo.clip) == (
        3,
        (64, 32),
        "mine",
        0.1,
    )


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["ppo.epoch=3"], r"ppo.epoch: no such option \(did you mean epochs\?\); there are epochs, batch"),
        (["trainer.x=1"], "trainer: no such option"),
        (["ppo.epochs=many"], "ppo.epochs = 'many': Input should be a valid integer"),
        (["ppo.epochs=0"], "ppo.epochs = 0: Input should be greater than or equal to 1"),
        (["game.players=9"], "game.players = 9: Input should be less than or equal to 6"),
        (["network.precision=fp16"], "network.precision = 'fp16': Input should be 'auto', 'fp32' or 'bf16'"),
        (["rollout.steps=1"], "ppo.batch = 4096 is more than a rollout"),
        (["evaluation.keep=nobody"], "keep = 'nobody' is not worst, mean or one of the anchors"),
        (["run.name=../x"], "a name is made of letters"),
        (["epochs=3"], "write it as section.key=value"),
        (["ppo.epochs"], "write it as section.key=value"),
    ],
)
def test_errors_name_the_option_in_one_line(overrides: list[str], message: str) -> None:
    with pytest.raises(TonkError, match=message) as error:
        load_config("quickstart", overrides)
    assert "\n" not in str(error.value)


def test_files_that_are_no_configs_are_refused_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[run\nname = 3")
    for path, message in (
        (broken, "not a readable TOML file"),
        (tmp_path / "gone.toml", "no training config"),
    ):
        with pytest.raises(TonkError, match=message) as error:
            load_config(path)
        assert "\n" not in str(error.value)


def test_every_option_is_explained() -> None:
    for section in TrainConfig.model_fields.values():
        for name, field in section.annotation.model_fields.items():  # type: ignore[union-attr]
            assert field.description, name
