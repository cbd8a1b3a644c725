from __future__ import annotations

from pathlib import Path

import pytest

from agents.registry import make
from arena.config import load_config
from tonk_env.errors import TonkError
from tonk_env.resources import list_configs
from tonk_env.rules import lower

AGENTS = 'agents = ["random", "reference"]\n'


@pytest.mark.parametrize("name", list_configs("arena"))
def test_configs_that_ship_can_be_played(name: str) -> None:
    config = load_config(name)
    assert len({make(spec).name for spec in config.agents}) == len(config.agents)
    lower(config.rules).rules.check_players(config.players)


def test_a_config_needs_agents_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(AGENTS)
    config = load_config(path)
    assert config.agents == ("random", "reference")
    assert (config.rules, config.players, config.deals, config.seed) == ("pagat", 2, 20000, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (AGENTS + "deal = 5", "deal: no such key; allowed are agents, rules, players, deals, seed"),
        (AGENTS + "players = 9", "players = 9: input should be less than or equal to 6"),
        (AGENTS + "deals = 0", "deals = 0: input should be greater than or equal to 2"),
        (AGENTS + 'seed = "1"', "seed = '1': input should be a valid integer"),
        (AGENTS + "rules = 5", "rules = 5: input should be a valid string"),
        ("agents = [1, 2]", "agents.0 = 1: input should be a valid string"),
        ('agents = "random"', "agents = 'random': input should be"),
        ('agents = ["random"]', "agents = .*at least 2 items"),
        ("deals = 5", "agents: field required"),
        ("agents = [", "not a readable TOML file"),
    ],
)
def test_mistakes_take_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(TonkError, match=f"mine.toml: .*{message}") as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


def test_a_config_that_is_not_there() -> None:
    with pytest.raises(TonkError, match=r"no arena config 'lader' .did you mean ladder"):
        load_config("lader")
