"""A table as plain lines of text, for render modes and messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env.actions import action_table
from tonk_env.cards import CARD_TEXT, NUM_RANKS, cards_text, mask_cards
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.state import ENDED, ENDINGS, PHASES
from tonk_env.limits import MAX_ACTIONS
from tonk_env.rules import LoweredRules
from tonk_env.rules.lower import RUN


def move_text(table: Any, rules: LoweredRules, action: int) -> str:
    """Returns an action of the seat to move as text; `table` is a record of STATE_DTYPE."""
    seat = int(table["seat"])
    return action_table(rules).text(action, seat, int(table["num_players"]), table["hands"][seat])


def spread_text(table: Any, row: Any, seat: int, place: int) -> str:
    """Returns a spread as text, such as ``5h6h7h[Jk]``: a card with the wild that stands for it.

    Args:
        table: a record of STATE_DTYPE.
        row: the record of its rules.
        seat, place: the spread.
    """
    cards = mask_cards(table["spread_cards"][seat, place])
    if table["spread_kind"][seat, place] == RUN:
        length = int(row["num_ranks"])
        # A run of every rank goes round: it is written from the ace.
        start = int(table["spread_start"][seat, place]) if len(cards) < length else 0
        cards.sort(key=lambda card: (int(row["position"][card % NUM_RANKS]) - start) % length)
    wilds = [
        (int(table["wild_as"][at]), CARD_TEXT[table["wild_card"][at]])
        for at in range(int(table["num_wilds"]))
        if (table["wild_seat"][at], table["wild_place"][at]) == (seat, place)
    ]
    texts = []
    # From the end, so that of two equal cards the natural one comes first.
    for card in reversed(cards):
        text = CARD_TEXT[card]
        found = next((wild for wild in reversed(wilds) if wild[0] == card), None)
        if found is not None:
            wilds.remove(found)
            text += f"[{found[1]}]"
        texts.append(text)
    return "".join(reversed(texts))


def legal_text(tables: npt.NDArray[np.void], rules: LoweredRules) -> str:
    """Returns the legal actions of the seat to move at table 0: ids, each with its move."""
    actions = np.zeros(MAX_ACTIONS, np.int16)
    found = legal_actions(tables, 0, rules.record, actions)
    return ", ".join(f"{action} {move_text(tables[0], rules, action)}" for action in actions[:found].tolist())


def refusal_text(tables: npt.NDArray[np.void], rules: LoweredRules, who: str, action: object) -> str:
    """Returns what to say of an action that is not legal at table 0: what it is, and what is legal."""
    given = repr(action)
    if isinstance(action, (int, np.integer)):
        known = 0 <= action < rules.num_actions
        given = f"{action} ({move_text(tables[0], rules, int(action))})" if known else f"{action}"
    return f"{who}: action {given} is not legal; legal are {legal_text(tables, rules)}"


def table_text(
    tables: npt.NDArray[np.void],
    rules: LoweredRules,
    payments: npt.NDArray[np.float64],
    viewer: int | None = None,
) -> str:
    """Returns table 0 as lines of text, the top of the pile last.

    Args:
        tables: `[B]` STATE_DTYPE.
        rules: of that table.
        payments: `[1, MAX_SEATS]`, in stakes; shown once the hand has ended.
        viewer: show what this seat may know; None: all hands, and what the seat to move may do.
    """
    table = tables[0]
    n, seat, ended = int(table["num_players"]), int(table["seat"]), bool(table["phase"] == ENDED)
    stock = int(table["deck_size"]) - int(table["next_card"])
    pile = cards_text(table["pile"][: table["pile_size"]].tolist())
    lines = [f"dealer player_{int(table['dealer'])}, {stock} cards in the stock, pile: {pile or '-'}"]
    for at in range(n):
        mark = ">" if at == seat and not ended else " "
        waits = f", waits {int(table['waits'][at])}" if table["waits"][at] else ""
        lines.append(f"{mark} player_{at}: {_hand_text(table, at, viewer in (None, at))}{waits}")
        for place in range(int(table["num_spreads"][at])):
            lines.append(f"    spread {place}: {spread_text(table, rules.record[0], at, place)}")
    if ended:
        by = int(table["ending_seat"])
        stakes = " ".join(f"{paid:+g}" for paid in payments[0, :n].tolist())
        lines.append(f"{ENDINGS[int(table['ending'])]}{f' of player_{by}' if by >= 0 else ''}: {stakes}")
    else:
        may = f": {legal_text(tables, rules)}" if viewer in (None, seat) else ""
        lines.append(f"player_{seat} to {PHASES[int(table['phase'])]}{may}")
    return "\n".join(lines) + "\n"


def _hand_text(table: Any, seat: int, is_open: bool) -> str:
    if is_open:
        cards = cards_text(mask_cards(table["hands"][seat]))
        return f"{cards or 'no cards'} (count {int(table['counts'][seat])})"
    known = cards_text(mask_cards(table["known"][seat]))
    return f"{int(table['num_cards'][seat])} cards{f', {known} among them' if known else ''}"
