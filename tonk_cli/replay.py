"""`tonk replay`: plays hand records back."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tonk_cli.common import JsonOption, amount_text, note_compiling, print_json, stdout, warn
from tonk_env.errors import TonkError

if TYPE_CHECKING:
    from rich.console import Console

    from tonk_env.hand import Hand
    from tonk_env.notation import Record

_DISAGREES, _REFUSED = 1, 2


def replay(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Hand records (TOML).")],
    as_json: JsonOption = False,
) -> None:
    """Play hand records back, checking each move and the result.

    Exit status: 1 where a record's result is not what the engine finds, 2 where a record is refused.
    """
    note_compiling()
    from tonk_env.notation import read_record

    console, status = stdout(), 0
    for path in files:
        try:
            record = read_record(path)
        except TonkError as error:
            warn(str(error))
            status = _REFUSED
            continue
        if as_json:
            print_json(_summary(record))
        else:
            _show(record, console)
        disagreement = record.disagreement()
        if disagreement is not None:
            warn(disagreement)
            status = max(status, _DISAGREES)
    if status:
        raise typer.Exit(status)


def _summary(record: Record) -> dict[str, Any]:
    from tonk_env.notation import plain

    hand = record.hand
    payments = None if hand.payments is None else list(map(plain, hand.payments))
    return {"file": record.where, "ending": hand.ending, "payments": payments, "counts": hand.counts}


def hand_text(hand: Hand) -> str:
    """Returns a hand as `tonk replay` shows it, as plain text."""
    from rich.console import Console

    text = io.StringIO()
    show_hand(hand, Console(file=text, width=120, highlight=False, color_system=None))
    return text.getvalue()


def _show(record: Record, console: Console) -> None:
    hand = record.hand
    rules = hand.preset or "own rules"
    title = f"{record.where}: {rules}, {hand.num_players} players, dealer {hand.dealer}"
    console.print(title, markup=False, soft_wrap=True)
    show_hand(hand, console)


def show_hand(hand: Hand, console: Console) -> None:
    """Prints a hand move by move, and what it paid."""
    from rich.table import Table

    table = Table()
    for heading in ("#", "seat", "move", "drew", "hand", "count"):
        table.add_column(heading, justify="right" if heading in ("#", "seat", "count") else "left")
    _add_rows(table, hand)
    console.print(table)
    if hand.payments is None:
        moves = ", ".join(hand.legal_moves())
        stands = f"The record stops here: seat {hand.to_move} is to move. Legal: {moves}"
        console.print(stands, soft_wrap=True)
    else:
        paid = ", ".join(map(amount_text, hand.payments))
        counts = ", ".join(map(str, hand.counts))
        console.print(f"{hand.ending}: paid by seat {paid}; counts {counts}", soft_wrap=True)


def _add_rows(table: Any, hand: Hand) -> None:
    """Adds the deal and every move, with the mover's cards after it."""
    from tonk_env.cards import CARD_TEXT

    events, at = hand.events, hand.clone()
    for _ in events:
        at.undo()
    for seat in range(hand.num_players):
        table.add_row("", str(seat), "is dealt", "", " ".join(at.hands[seat]), str(at.counts[seat]))
    if at.top is not None:
        table.add_row("", "", f"upcard {at.top}", "", "", "")
    for number, event in enumerate(events, start=1):
        top = at.top if event.move == "take" else None
        if event.move == "forfeit":
            at.forfeit(event.seat)
        else:
            at.apply(event.move)
        drew = CARD_TEXT[event.drawn] if event.drawn is not None else top or ""
        cards, count = " ".join(at.hands[event.seat]), str(at.counts[event.seat])
        table.add_row(str(number), str(event.seat), event.move, drew, cards, count)
