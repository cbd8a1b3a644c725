"""`tonk score`, the points keeper, and `tonk odds`."""

from __future__ import annotations

from typing import Annotated

import typer

from tonk_cli.common import (
    JsonOption,
    RulesOption,
    amount_text,
    integers,
    naming_options,
    note_compiling,
    print_json,
    stdout,
)
from tonk_env.errors import TonkError


def score(
    ending: Annotated[
        str,
        typer.Option(
            help="instant_win, claim, tonk, out, drop, caught, stock_out, turn_limit, void or forfeit; "
            "of a drop the counts tell whether it was caught."
        ),
    ],
    counts: Annotated[str, typer.Option(help="Points held by seat when the hand ended, such as 8,6,8,20.")],
    rules: RulesOption = "pagat",
    by: Annotated[
        int | None, typer.Option(help="The seat that won on the deal, went out, dropped or forfeited.")
    ] = None,
    multiple: Annotated[
        float | None, typer.Option(help="Stakes that the win pays, where the counts cannot tell.")
    ] = None,
    dealer: Annotated[
        int | None,
        typer.Option(help="The dealer's seat, for ties paid to the nearest left (default: the last)."),
    ] = None,
    swapped: Annotated[str, typer.Option(help="Seats that swapped for a widow, such as 0,2.")] = "",
    long_laid: Annotated[str, typer.Option(help="Seats that laid four cards or more at once.")] = "",
    locked: Annotated[
        bool, typer.Option("--locked", help="Spreads were locked when the stock ran out.")
    ] = False,
    suit_winner: Annotated[int | None, typer.Option(help="The seat that won the bet on the suit.")] = None,
    naturals_winner: Annotated[
        int | None, typer.Option(help="The seat that won the bet on naturals.")
    ] = None,
    suit_deals: Annotated[int, typer.Option(help="Deals since that bet was last won, with this one.")] = 1,
    naturals_deals: Annotated[int, typer.Option(help="The same of the bet on naturals.")] = 1,
    multiplier: Annotated[float, typer.Option(help="2 where the hand pays double.")] = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Say who pays what after a hand that was played elsewhere."""
    points = integers("--counts", counts)
    note_compiling()
    from tonk_env.notation import plain
    from tonk_env.score import Beside
    from tonk_env.score import score as settle

    winners = {"suit": suit_winner, "naturals": naturals_winner}
    deals = {"suit": suit_deals, "naturals": naturals_deals}
    beside = Beside(
        swapped=integers("--swapped", swapped) if swapped else (),
        long_laid=integers("--long-laid", long_laid) if long_laid else (),
        locked=locked,
        bet_winners={bet: seat for bet, seat in winners.items() if seat is not None},
        deals_since_won={bet: number for bet, number in deals.items() if number != 1},
        multiplier=multiplier,
    )
    with naming_options(("ending", "counts", "by", "dealer", "multiple", "swapped", "locked", "multiplier")):
        found = settle(rules, ending, points, by=by, dealer=dealer, multiple=multiple, beside=beside)
    if as_json:
        print_json({"payments": list(map(plain, found.payments))})
        return
    from rich.table import Table

    table = Table(title=f"{rules}: {found.ending}", title_justify="left")
    for heading in ("seat", "count", "payment"):
        table.add_column(heading, justify="right")
    for seat, (count, amount) in enumerate(zip(points, found.payments, strict=True)):
        table.add_row(str(seat), str(count), amount_text(amount))
    stdout().print(table)


def odds(
    rules: RulesOption = "pagat",
    opponents: Annotated[
        str | None, typer.Option(help="Numbers of opponents, such as 1,2,3 (the default).")
    ] = None,
    deals: Annotated[int, typer.Option(help="Deals to simulate.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal figures.")] = 0,
    hand: Annotated[
        str | None,
        typer.Option(help='A dealt hand, such as "2c 5d 5h 8s As": the exact odds against one opponent.'),
    ] = None,
    upcard: Annotated[str | None, typer.Option(help="With --hand: a card seen, which nobody holds.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how often a drop on the deal is caught, for each own count."""
    if hand is None and upcard is not None:
        raise TonkError("--upcard: only together with --hand")
    if hand is not None and opponents not in (None, "1"):
        raise TonkError(f"--opponents {opponents}: with --hand the odds are exact, against 1 opponent only")
    numbers = integers("--opponents", opponents or "1,2,3")
    note_compiling()
    from tonk_env.cards import parse_cards
    from tonk_env.odds import drop_odds, exact_odds

    with naming_options(("opponents", "deals", "seed", "hand", "upcard")):
        if hand is None:
            found = drop_odds(rules, numbers, deals, seed)
        else:
            seen = _one_card(upcard) if upcard is not None else None
            found = [exact_odds(rules, parse_cards(hand), seen)]
    if as_json:
        keys = ("count", "opponents", "caught", "stderr", "hands")
        print_json({"odds": [{key: getattr(each, key) for key in keys} for each in found]})
    elif hand is not None:
        only = found[0]
        print(f"A count of {only.count} is caught by one opponent {only.caught:.4%} of the time (exactly).")
    else:
        from rich.table import Table

        at = {(each.count, each.opponents): each for each in found}
        shown = sorted({number for _, number in at})
        table = Table(
            title=f"{rules}: how often a drop on the deal is caught, ± standard error", title_justify="left"
        )
        table.add_column("count", justify="right")
        for number in shown:
            table.add_column(f"{number} opponent{'s' if number > 1 else ''}", justify="right")
        for count in sorted({count for count, _ in at}):
            cells = (at.get((count, number)) for number in shown)
            table.add_row(
                str(count),
                *("" if each is None else f"{each.caught:.2%} ± {each.stderr:.2%}" for each in cells),
            )
        stdout().print(table)


def _one_card(text: str) -> int:
    from tonk_env.cards import card_id

    return card_id(text)
