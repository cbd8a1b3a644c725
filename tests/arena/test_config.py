from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from agents.registry import make
from arena.config import ArenaConfig, load_config
from tonk_env.errors import TonkError
from tonk_env.resources import find_config, list_configs, read_toml
from tonk_env.rules import lower

AGENTS = 'agents = ["random", "reference"]\n'


@pytest.mark.parametrize("name", list_configs("arena"))
def test_configs_that_ship_can_be_played(name: str) -> None:
    config = load_config(name)
    assert len({make(spec).name for spec in config.everyone}) == len(config.everyone) > 1
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
        (AGENTS + "deal = 5", "deal: no such option \\(did you mean deals\\?\\); there are agents, "),
        (AGENTS + "players = 9", "players = 9: Input should be less than or equal to 6"),
        (AGENTS + "deals = 0", "deals = 0: Input should be greater than or equal to 2"),
        (AGENTS + 'seed = "1"', "seed = '1': Input should be a valid integer"),
        (AGENTS + "rules = 5", "rules = 5: Input should be a valid string"),
        ("agents = [1, 2]", "agents\\[0\\] = 1: Input should be a valid string"),
        ('agents = "random"', "agents = 'random': Input should be"),
        (AGENTS + "until = 0", "until = 0: Input should be greater than 0"),
        (AGENTS + "until = nan", "until = nan: Input should be a finite number"),
        (AGENTS + "workers = 0", "workers = 0: Input should be greater than or equal to 1"),
        (AGENTS + "batch = 0", "batch = 0: Input should be greater than or equal to 1"),
        (AGENTS + "min_deals = 2.5", "min_deals = 2.5: Input should be a valid integer"),
        (AGENTS + 'schedule = "swiss"', "schedule = 'swiss': Input should be 'round_robin', 'all_pairs'"),
        (AGENTS + "field = 3", "field = 3: Input should be a list"),
        ("agents = [", "not a readable TOML file"),
    ],
)
def test_mistakes_take_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(TonkError, match=f"mine.toml: .*{message}") as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


def test_a_batch_is_a_twentieth_within_bounds() -> None:
    sizes = {deals: ArenaConfig(deals=deals).batch_blocks for deals in (2, 1000, 5001, 20000, 10**6)}
    assert sizes == {2: 50, 1000: 50, 5001: 251, 20000: 1000, 10**6: 1000}
    assert ArenaConfig(batch=7).batch_blocks == 7


def test_the_benchmark_stays_as_it_is() -> None:
    path = find_config("arena", "tonk_bench_1")
    keys = repr(sorted(read_toml(path).items()))
    assert hashlib.sha256(keys.encode()).hexdigest()[:16] == "36b37abe2ededde1"
    assert "never changes" in path.read_text()


def test_a_config_that_is_not_there() -> None:
    with pytest.raises(TonkError, match=r"no arena config 'lader' .did you mean ladder"):
        load_config("lader")
