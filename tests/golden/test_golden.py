"""Hand records, each named after the rule or case it shows, worked out by hand from docs/RULES.md."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from tonk_env.errors import TonkError
from tonk_env.notation import format_record, parse_record, read_record
from tonk_env.rules import Rules

HERE = Path(__file__).parent
RECORDS = sorted(HERE.glob("*.toml"))
REFUSED = sorted((HERE / "refused").glob("*.toml"))

pytestmark = [pytest.mark.uncompiled, pytest.mark.boundscheck]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_record_pays_what_it_says(path: Path) -> None:
    record = read_record(path)
    assert record.disagreement() is None
    assert record.hand.ended == (record.stated is not None)
    again = parse_record(format_record(record.hand))
    assert again.hand.events == record.hand.events
    assert again.found == record.found
    assert again.hand.rules.fingerprint == record.hand.rules.fingerprint


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_last_move_is_refused(path: Path) -> None:
    actions = tomllib.loads(path.read_text())["actions"]
    with pytest.raises(TonkError) as refused:
        read_record(path)
    message = str(refused.value)
    assert message.startswith(f'{path}: move {len(actions)}, "{actions[-1]}": ')
    assert "legal" in message and "\n" not in message
    # Without that move the record is fine.
    text = path.read_text().replace(f'"{actions[-1]}",\n]', "]")
    assert parse_record(text).hand.num_moves == len(actions) - 1


def test_record_in_the_documentation() -> None:
    page = (HERE.parents[1] / "docs" / "HANDS.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    record = parse_record(example)
    assert record.stated is not None and record.disagreement() is None


def test_there_is_a_record_for_every_ending() -> None:
    endings = {record.hand.ending for record in map(read_record, RECORDS)}
    assert endings == {
        "instant_win",
        "claim",
        "tonk",
        "out",
        "drop",
        "caught",
        "stock_out",
        "turn_limit",
        "void",
        "forfeit",
        None,
    }


def models(annotation: Any) -> list[type[BaseModel]]:
    """The tables of options that an annotation is of, such as the one in a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models(part)]


def option_names(model: type[BaseModel], path: str = "") -> Iterator[str]:
    """Every option of a table of rules; those of a match, which no hand shows, are left out."""
    for name, field in model.model_fields.items():
        inside = models(field.annotation)
        if path + name == "match":
            continue
        if not inside:
            yield path + name
        for table in inside:
            yield from option_names(table, f"{path}{name}.")


def options_set(table: BaseModel, path: str = "") -> Iterator[str]:
    """The options of a table that are not as they are where nothing is said of them."""
    for name, field in type(table).model_fields.items():
        value = getattr(table, name)
        inside = value if isinstance(value, tuple) else (value,)
        if models(field.annotation):
            for item in inside:
                yield from options_set(item, f"{path}{name}.")
        elif value != field.default:
            yield path + name


def test_there_is_a_record_for_every_option() -> None:
    shown = {option for path in RECORDS for option in options_set(read_record(path).hand.rules.rules)}
    options = set(option_names(Rules))
    assert shown >= {"deck.jokers", "instant_wins.tiers.counts", "drop.caught.lowest", "slap"}
    assert sorted(options - shown) == []
