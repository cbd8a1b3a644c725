"""Hand records, each named after the rule or case it shows, worked out by hand from docs/RULES.md."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tonk_env.errors import TonkError
from tonk_env.notation import format_record, parse_record, read_record

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
