"""`tonk rules`: the rules that ship, and what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tonk_cli.common import JsonOption, print_json, stdout

if TYPE_CHECKING:
    from tonk_env.rules import Rules

app = typer.Typer(help="List the rules that ship, or show the options of one.", invoke_without_command=True)


@app.callback()
def list_presets(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the rules that ship."""
    if context.invoked_subcommand is not None:
        return
    from tonk_env.rules import load_preset, preset_names

    presets = [load_preset(name) for name in preset_names()]
    if as_json:
        print_json(
            [
                {
                    "name": preset.name,
                    "summary": preset.summary,
                    "source": preset.source,
                    "players": list(preset.rules.player_counts()),
                }
                for preset in presets
            ]
        )
        return
    from rich.table import Table

    table = Table()
    for heading in ("name", "players", "summary"):
        table.add_column(heading)
    for preset in presets:
        counts = preset.rules.player_counts()
        table.add_row(preset.name, f"{counts[0]} to {counts[-1]}", preset.summary)
    stdout().print(table)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A preset, or the path of a TOML file.")],
    as_json: JsonOption = False,
) -> None:
    """Show every option of some rules, with its meaning."""
    from tonk_env.rules import Rules, load_preset

    preset = load_preset(name)
    if as_json:
        options = preset.rules.model_dump(mode="json")
        print_json(
            {"name": preset.name, "summary": preset.summary, "source": preset.source, "options": options}
        )
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{preset.name}: {preset.summary}", title_justify="left")
    for heading in ("option", "value", "meaning"):
        table.add_column(heading)
    standard = {option: value for option, value, _ in _options(Rules())}
    for option, value, meaning in _options(preset.rules):
        table.add_row(option, Text(value, style="" if value == standard[option] else "bold"), meaning)
    console = stdout()
    console.print(table)
    if console.is_terminal:
        console.print("Bold: differs from the default.", style="dim")
    if preset.source:
        console.print(f"Source: {preset.source}")


def _options(rules: Rules) -> Iterator[tuple[str, str, str]]:
    """Yields (option, value, meaning) of every option."""
    for name, field in type(rules).model_fields.items():
        value = getattr(rules, name)
        inner = getattr(type(value), "model_fields", None)
        if inner is None:
            yield name, _text(value), field.description or ""
            continue
        for option, declared in inner.items():
            yield f"{name}.{option}", _text(getattr(value, option)), declared.description or ""


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return "; ".join(map(_text, value)) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    if hasattr(value, "model_dump"):
        from tonk_env.rules.spec import CAUGHT_TABLES

        named = [name for name, table in CAUGHT_TABLES.items() if table == value]
        if named:
            return named[0]
        value = value.model_dump(exclude_defaults=True)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items()) or "standard"
    return str(value).lower() if isinstance(value, bool) else str(value)
