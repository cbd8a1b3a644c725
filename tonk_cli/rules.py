"""`tonk rules`: the rules that ship, what they say, and what a file of one's own may say."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tonk_cli.common import JsonOption, check_players, print_json, stdout

if TYPE_CHECKING:
    from tonk_env.rules import Rules

STANDARD = "pagat"
"""The preset that others are compared with."""

app = typer.Typer(
    help="List the rules that ship, show the options of one, or tell how it is played.",
    invoke_without_command=True,
)

NameArgument = Annotated[str, typer.Argument(help="A preset, or the path of a TOML file.")]


@app.callback()
def list_presets(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the rules that ship."""
    if context.invoked_subcommand is not None:
        return
    from tonk_env.rules import load_preset, preset_names

    presets = [load_preset(name) for name in preset_names()]
    if as_json:
        print_json(
            {
                "presets": [
                    {
                        "name": preset.name,
                        "summary": preset.summary,
                        "source": preset.source,
                        "players": list(preset.rules.player_counts()),
                    }
                    for preset in presets
                ]
            }
        )
        return
    from rich.table import Table

    table = Table()
    for heading in ("name", "players", "summary"):
        table.add_column(heading)
    for preset in presets:
        counts = preset.rules.player_counts()
        players = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        table.add_row(preset.name, players, preset.summary)
    stdout().print(table)


@app.command()
def show(name: NameArgument, as_json: JsonOption = False) -> None:
    """Show every option of some rules, with its meaning and what differs from the standard game."""
    from tonk_env.rules import load_preset

    preset = load_preset(name)
    standard = {option: value for option, value, _ in _options(load_preset(STANDARD).rules)}
    options = [(option, value, meaning) for option, value, meaning in _options(preset.rules)]
    differs = [option for option, value, _ in options if value != standard[option]]
    if as_json:
        print_json(
            {
                "name": preset.name,
                "summary": preset.summary,
                "source": preset.source,
                "options": preset.rules.model_dump(mode="json"),
                "differs": differs,
            }
        )
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{preset.name}: {preset.summary}", title_justify="left")
    for heading in ("", "option", "value", "meaning"):
        table.add_column(heading)
    for option, value, meaning in options:
        mark, style = ("*", "bold") if option in differs else ("", "")
        table.add_row(mark, option, Text(_text(value), style=style), meaning)
    console = stdout()
    console.print(table)
    console.print(f"*: differs from the preset {STANDARD}." if differs else f"As the preset {STANDARD}.")
    if preset.source:
        console.print(f"Source: {preset.source}")


@app.command()
def describe(
    name: NameArgument,
    players: Annotated[int | None, typer.Option(help="Write the numbers for that many players.")] = None,
) -> None:
    """Tell in plain English how a game under some rules is played."""
    if players is not None:
        check_players(players)
    from tonk_env.rules import load_preset
    from tonk_env.rules.describe import describe as text_of

    preset = load_preset(name)
    text = text_of(preset.rules, players)
    console = stdout()
    about = [f"{preset.name}: {preset.summary}".removesuffix(": "), ""]
    source = ["", f"Source: {preset.source}"] if preset.source else []
    for line in [*about, *text.splitlines(), *source]:
        indent = "  " if line.startswith("- ") else ""
        shown = textwrap.fill(line, console.width, subsequent_indent=indent) if console.is_terminal else line
        print(shown)


@app.command()
def schema() -> None:
    """Print the JSON schema of a preset's file, for editors that check TOML."""
    from tonk_env.rules.schema import preset_schema

    print_json(preset_schema())


def _options(rules: Rules) -> Iterator[tuple[str, Any, str]]:
    """Yields (option, value, meaning) of every option."""
    for name, field in type(rules).model_fields.items():
        value = getattr(rules, name)
        inner = getattr(type(value), "model_fields", None)
        if inner is None:
            yield name, value, field.description or ""
            continue
        for option, declared in inner.items():
            yield f"{name}.{option}", getattr(value, option), declared.description or ""


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
    return str(value).lower() if isinstance(value, bool) else str(value) or "none"
