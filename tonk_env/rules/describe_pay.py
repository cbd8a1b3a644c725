"""How a hand ends and what it pays, in plain English: a section of `tonk_env.rules.describe`."""

from __future__ import annotations

from collections.abc import Iterator

from tonk_env.rules.spec import Caught, Rules
from tonk_env.rules.words import counted, listed, sentence, stakes, times

_PAYEES = {
    "lowest": "each lowest of the other players",
    "lower": "each other player below the dropper",
    "equal": "each other player with the same count",
    "higher": "each player with a higher count",
}
_LOWEST_TIE = {
    "each": "Where several of the others share the lowest count, each of them is a lowest player.",
    "nearest_left": "Where several of the others share the lowest count, only the one nearest to the "
    "dealer's left is the lowest player; those passed over are like the other players that are lower or "
    "equal.",
}
_STOCK_TIE = {
    "void": "If several share the lowest count, nobody pays.",
    "share": "If several share the lowest count, each of them is paid so by each player above them.",
    "nearest_left": "If several share the lowest count, the one nearest to the dealer's left wins, also "
    "from the others.",
}
_STOCK_TIE_POINTS = {
    "void": "If several share the lowest count, nobody adds anything.",
    "share": "If several share the lowest count, they all win.",
    "nearest_left": "If several share the lowest count, only the one nearest to the dealer's left wins.",
}
_SHARED_DROP = {
    "stakes": "Where the lowest share a drop, each of them gets as much from each player above them.",
    "push_ups": "Where the lowest share a drop, they are all winners.",
}
COUNT = "the count still held"


def gain(rules: Rules, multiple: float) -> str:
    """Returns what a win of that multiple brings: stakes to the winner, or points to the losers."""
    if rules.scoring == "push_ups":
        return f"each loser adds {times(multiple, COUNT)}"
    return f"the winner gets {stakes(multiple)} from each other player"


def drop_is_forced(rules: Rules) -> bool:
    """Returns whether these rules ever make a player drop."""
    return rules.stock_out.result == "must_drop" or rules.going_out.stock_floor == "players"


def paid(rules: Rules, players: int | None) -> Iterator[str]:
    """Yields the paragraphs on how a hand ends and what is paid, for so many players if given."""
    yield from _going_out(rules, players)
    if rules.drop.allowed:
        yield from _drops(rules, players)
    yield from _stock_out(rules, players)
    if rules.scoring == "push_ups":
        yield (
            "A player who gives up a hand or breaks its rules adds the count still held, the others add "
            "nothing."
        )
    else:
        yield (
            "A player who gives up a hand, takes too long or breaks its rules ends it, and pays "
            f"{stakes(rules.forfeit)} to each other player."
        )
    yield from _beside(rules)


def _going_out(rules: Rules, players: int | None) -> Iterator[str]:
    out = rules.going_out
    yield "Whoever has no cards left goes out, which wins and ends the hand:"
    moves = {"a spread": out.spread, "a hit": out.hit, "the discard": out.discard}
    by_amount: dict[float, list[str]] = {}
    for move, amount in moves.items():
        by_amount.setdefault(amount, []).append(move)
    for amount, emptied in by_amount.items():
        yield sentence(f"- emptied by {listed(emptied, 'or')}: {gain(rules, amount)}")
    instead = {
        "on your first turn, by the second of two spreads of your own, with no hit and no discard": (
            out.first_turn_two_spreads
        ),
        "without having laid a spread on an earlier turn, by whatever move": out.no_earlier_spread,
    }
    for case, more in instead.items():
        if more is not None:
            yield sentence(f"- {case}: {gain(rules, more)}, if that is more than before")
    if out.after_hitting is not None:
        slap = ", also by a slap" if rules.slap else ""
        yield sentence(
            f"- if you have hit any spread on an earlier turn{slap}, no more than this: "
            f"{gain(rules, out.after_hitting)}"
        )
    if out.stock_floor == "players":
        few = (
            "no more cards than there are players"
            if players is None
            else f"{counted(players, 'card')} or fewer"
        )
        yield (
            f"Nobody goes out while the stock, after the draw, holds {few}. A player whose hand is emptied "
            "then plays on without cards: the turn ends, with no discard if a spread or hit emptied it, "
            "and on the next turn the only move is to drop, for which another empty hand is like any "
            "equal count. If the stock is empty at the end of a turn before that, it has run out."
        )


def _drops(rules: Rules, players: int | None) -> Iterator[str]:
    drop = rules.drop
    points = rules.scoring == "push_ups"
    shared = f" {_SHARED_DROP[rules.scoring]}" if drop.tie_with_dropper == "share" else ""
    yield f"A drop that is won: {gain(rules, 1 if points else drop.pays)}.{shared}"
    if points:
        yield (
            "A drop that is caught: the lowest of the other players win, and everybody else, the dropper "
            f"too, adds {COUNT}, once. {_LOWEST_TIE[drop.caught.lowest_tie]}"
        )
        return
    yield f"A drop that is caught: {_caught(drop.caught, players)}"


def _caught(caught: Caught, players: int | None) -> str:
    amounts = {who: stakes(getattr(caught, name)) for name, who in _PAYEES.items()}
    factor = {"opponents": "each opponent of the dropper", "players": "each player at the table"}
    if caught.lowest_times != "one":
        amount = stakes(caught.lowest)
        each = factor[caught.lowest_times]
        text = f"{amount} for {each}"
        if players is not None and caught.lowest:
            many = players - (caught.lowest_times == "opponents")
            text = f"{stakes(many * caught.lowest)} ({times(many, amount)}, once for {each})"
        amounts[_PAYEES["lowest"]] = text
    by_amount: dict[str, list[str]] = {}
    for who, amount in amounts.items():
        by_amount.setdefault(amount, []).append(who)
    pays = "; ".join(f"{amount} to {listed(who)}" for amount, who in by_amount.items())
    others = f"Each of the remaining players pays {stakes(caught.others_to_lowest)} to each lowest player."
    return f"the dropper pays {pays}. {others} {_LOWEST_TIE[caught.lowest_tie]}"


def _stock_out(rules: Rules, players: int | None) -> Iterator[str]:
    points = rules.scoring == "push_ups"
    tie = (_STOCK_TIE_POINTS if points else _STOCK_TIE)[rules.stock_out.tie]
    lowest = f"the lowest count wins, and {gain(rules, 1)}. {tie}"
    nobody = "nobody adds anything." if points else "nobody pays."
    empty = {
        "lowest_wins": f"the hand ends: {lowest}",
        "void": f"the hand ends and {nobody}",
        "must_drop": "the next player must drop, whatever the count, and it is paid like any drop.",
    }
    result = rules.stock_out.result
    yield f"If the stock is empty when a turn is over, {empty[result]}"
    turns = counted(rules.turn_limit, "turn")
    total = "" if players is None else f" ({rules.turn_limit * players} in all)"
    same = {
        "lowest_wins": "as if the stock had run out.",
        "void": f"and {nobody}",
        "must_drop": f": {lowest}",
    }
    yield (
        "The hand also ends when every player has had "
        f"{turns}{total}{'' if result == 'must_drop' else ', '}{same[result]}"
    )
    if rules.spreads.lock_after is not None:
        yield f"Once a player is locked, {nobody[:-1]} when the stock or the turns run out."


def _beside(rules: Rules) -> Iterator[str]:
    """Yields what is paid beside the hand itself."""
    bonus, widow = rules.long_spread_bonus, rules.deal.widow
    if bonus:
        yield (
            "A loser who laid a spread of four or more cards at once, not one that grew by hits, is paid "
            f"{stakes(bonus)}, once a hand, by the winners in equal parts."
        )
    if widow:
        yield (
            "Each player who swapped a card for the widow pays a stake to the winners, in equal parts, and a "
            "winner's part of their own stake stays with them. If there is no winner, nothing is paid for it."
        )
    if bonus or widow or rules.scoring == "push_ups":
        yield (
            "The winners are whoever is paid for a dealt hand or a claim, whoever went out, whoever won by "
            "a drop, the lowest players paid after a catch, and those paid when the stock or the turns run "
            "out. Everybody else is a loser."
        )
    bets = {
        "for the highest card dealt of the suit called (king high, ace low; of equal cards the one nearest "
        "to the "
        "dealer's left)": rules.side_bets.suit,
        "for the first to lay three or four of a kind without wild cards": rules.side_bets.naturals,
    }
    antes = [f"{stakes(ante)} {what}" for what, ante in bets.items() if ante]
    if antes:
        yield (
            f"Everybody bets beside the hand: {listed(antes)}. The winner gets this ante from each other "
            "player, times the deals since that bet was last won, however the hand ends. Otherwise it "
            "stands for the next deal; at the end of a match it lapses."
        )
