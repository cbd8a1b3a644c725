"""What each ending pays, worked out payment by payment: `transfer(payer, payee, stakes)` and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from .options import Options, count, rank_of

# RULES section 2, caught table. `times` multiplies `lowest`; what is left out is 0, "one" and "each".
CAUGHT_TABLES: dict[str, Options] = {
    "pagat": {"lowest": 2, "lower": 2, "equal": 2, "others_to_lowest": 1},
    "low_takes_all": {"lowest": 2, "others_to_lowest": 1},
    "pay_for_everyone": {"lowest": 1, "lowest_times": "opponents"},
    "single_plus_low": {"lowest": 2, "lower": 1, "equal": 1, "others_to_lowest": 1},
    "double_to_all": {"lowest": 2, "lower": 2, "equal": 2, "higher": 2},
    "five_to_low": {"lowest": 5, "lowest_tie": "nearest_left"},
    "double_only": {"lowest": 2, "lower": 2, "equal": 2},
    "bump": {"lowest": 4, "lower": 4, "equal": 4},
    "chicago": {"lowest": 2},
    "washington": {"lowest": 2, "lowest_times": "players"},
    "lower_only": {"lowest": 2, "lower": 2},
    "tonk_com": {"lowest": 2, "lower": 1, "others_to_lowest": 1},
    "wikipedia": {"lowest": 2, "lower": 1, "equal": 2, "others_to_lowest": 1},
}


@dataclass
class Outcome:
    """How a hand ended and who pays whom.

    Attributes:
        ending: a word of HANDS.md.
        payments: stakes by seat.
        winners: the seats RULES section 1.5 calls winners; empty when nobody pays.
        multiple: what push-ups multiply counts by: what an instant win, a claim or going out pays in
            stakes, and 1 for a drop (whatever `drop.pays`), a catch, the stock and a forfeit.
        forfeiter: the seat that forfeited, if one did. Nobody wins a forfeit.
    """

    ending: str
    payments: list[float]
    winners: set[int] = field(default_factory=set)
    multiple: float = 1
    forfeiter: int | None = None

    def transfer(self, payer: int, payee: int, stakes: float) -> None:
        """Moves stakes from one seat to another."""
        self.payments[payer] -= stakes
        self.payments[payee] += stakes


def nothing_moves(ending: str, num_players: int) -> Outcome:
    """An ending at which nobody pays."""
    return Outcome(ending, [0.0] * num_players)


def won_by(
    winner: int, stakes: float, ending: str, num_players: int, multiple: float | None = None
) -> Outcome:
    """One winner, paid the same by each other player; push-ups multiply by as much unless told otherwise."""
    outcome = nothing_moves(ending, num_players)
    outcome.winners = {winner}
    outcome.multiple = stakes if multiple is None else multiple
    for seat in range(num_players):
        if seat != winner:
            outcome.transfer(seat, winner, stakes)
    return outcome


def won_by_lowest(counts: list[int], lowest: list[int], stakes: float, ending: str) -> Outcome:
    """Several winners with the lowest count, each paid by every player above them."""
    outcome = nothing_moves(ending, len(counts))
    outcome.winners = set(lowest)
    for winner in lowest:
        for seat in range(len(counts)):
            if seat not in lowest:
                outcome.transfer(seat, winner, stakes)
    return outcome


def nearest_left(seats: list[int], dealer: int, num_players: int) -> int:
    """The one of `seats` nearest to the left of the dealer, who is himself the farthest."""
    for steps in range(1, num_players + 1):
        seat = (dealer + steps) % num_players
        if seat in seats:
            return seat
    raise ValueError("nobody to choose from")


# ---- instant wins


def is_claim(tier: Options) -> bool:
    """Whether the tier is claimed in the first turn; the others take part on the deal."""
    return tier.get("claim") not in (None, "none")


def tier_to_claim(hand: list[str], options: Options) -> Options | None:
    """The first claim tier a dealt hand meets."""
    for tier in options["instant_wins"]["tiers"]:
        if is_claim(tier) and tier_fits(tier, hand, options):
            return dict(tier)
    return None


def tier_fits(tier: Options, hand: list[str], options: Options) -> bool:
    """Whether a dealt hand meets any one of the tier's conditions."""
    points = count(hand, options)
    if "counts" in tier and points in tier["counts"]:
        return True
    if "at_most" in tier and points <= tier["at_most"]:
        return True
    return "all_ranks" in tier and all(rank_of(card) in list(tier["all_ranks"]) for card in hand)


def settle_deal(hands: list[list[str]], dealer: int, options: Options) -> Outcome | None:
    """Settles instant wins; None when no dealt hand qualifies and play begins."""
    num_players = len(hands)
    tiers = [tier for tier in options["instant_wins"]["tiers"] if not is_claim(tier)]
    tie = options["instant_wins"]["tie"]

    tier_held: dict[int, int] = {}
    for seat, hand in enumerate(hands):
        fitting = [place for place, tier in enumerate(tiers) if tier_fits(tier, hand, options)]
        if fitting:
            tier_held[seat] = fitting[0]
    if not tier_held:
        return None
    best = min(tier_held.values())

    if tie == "all_paid":
        outcome = nothing_moves("instant_win", num_players)
        outcome.winners = set(tier_held)
        outcome.multiple = tiers[best]["pays"]
        for winner, place in tier_held.items():
            for seat in range(num_players):
                if seat not in tier_held:
                    outcome.transfer(seat, winner, tiers[place]["pays"])
        return outcome

    rivals = [seat for seat, place in tier_held.items() if place == best]
    if tiers[best].get("lowest_first", False):
        lowest = min(count(hands[seat], options) for seat in rivals)
        rivals = [seat for seat in rivals if count(hands[seat], options) == lowest]
    if len(rivals) > 1 and tie == "void":
        return nothing_moves("void", num_players)
    winner = nearest_left(rivals, dealer, num_players)
    return won_by(winner, tiers[best]["pays"], "instant_win", num_players)


# ---- drops


def settle_drop(counts: list[int], dropper: int, dealer: int, options: Options) -> Outcome:
    """Settles a drop, won or caught."""
    num_players = len(counts)
    drop = options["drop"]
    others = [seat for seat in range(num_players) if seat != dropper]
    lowest_count = min(counts[seat] for seat in others)

    is_strictly_lowest = counts[dropper] < lowest_count
    is_tied = counts[dropper] == lowest_count
    if is_strictly_lowest or (is_tied and drop["tie_with_dropper"] == "dropper_wins"):
        return won_by(dropper, drop["pays"], "drop", num_players, multiple=1)
    if is_tied and drop["tie_with_dropper"] == "share":
        all_lowest = [seat for seat in range(num_players) if counts[seat] == lowest_count]
        return won_by_lowest(counts, all_lowest, drop["pays"], "drop")
    return settle_catch(counts, dropper, dealer, caught_table(options))


def caught_table(options: Options) -> Options:
    """The caught table in force, with every column filled in."""
    named = options["drop"]["caught"]
    table = CAUGHT_TABLES[named] if isinstance(named, str) else named
    blank: Options = {"lowest": 0, "lower": 0, "equal": 0, "higher": 0, "others_to_lowest": 0}
    return blank | {"lowest_times": "one", "lowest_tie": "each"} | table


def settle_catch(counts: list[int], dropper: int, dealer: int, table: Options) -> Outcome:
    """Settles a drop that is not lowest."""
    num_players = len(counts)
    others = [seat for seat in range(num_players) if seat != dropper]
    lowest_count = min(counts[seat] for seat in others)
    lowest = [seat for seat in others if counts[seat] == lowest_count]
    if table["lowest_tie"] == "nearest_left":
        lowest = [nearest_left(lowest, dealer, num_players)]
    times = {"one": 1, "opponents": num_players - 1, "players": num_players}[table["lowest_times"]]

    outcome = nothing_moves("caught", num_players)
    outcome.winners = set(lowest)
    for seat in others:
        if seat in lowest:
            outcome.transfer(dropper, seat, table["lowest"] * times)
            continue
        if counts[seat] < counts[dropper]:
            outcome.transfer(dropper, seat, table["lower"])
        elif counts[seat] == counts[dropper]:
            outcome.transfer(dropper, seat, table["equal"])
        else:
            outcome.transfer(dropper, seat, table["higher"])
        for winner in lowest:
            outcome.transfer(seat, winner, table["others_to_lowest"])
    return outcome


# ---- the stock, the turn limit, a forfeit


def settle_stock_out(counts: list[int], dealer: int, ending: str, options: Options) -> Outcome:
    """Settles `stock_out` and `turn_limit`: lowest count is paid 1 by each."""
    num_players = len(counts)
    if options["stock_out"]["result"] == "void":
        return nothing_moves(ending, num_players)
    lowest = [seat for seat in range(num_players) if counts[seat] == min(counts)]
    if len(lowest) == 1:
        return won_by(lowest[0], 1, ending, num_players)
    tie = options["stock_out"]["tie"]
    if tie == "void":
        return nothing_moves(ending, num_players)
    if tie == "nearest_left":
        return won_by(nearest_left(lowest, dealer, num_players), 1, ending, num_players)
    outcome = won_by_lowest(counts, lowest, 1, ending)
    if len(lowest) == num_players:
        outcome.winners = set()  # winners are those paid, and nobody is
    return outcome


def settle_forfeit(counts: list[int], seat: int, options: Options) -> Outcome:
    """Settles a forfeit: the seat pays each other player; nobody else moves a stake."""
    outcome = nothing_moves("forfeit", len(counts))
    outcome.forfeiter = seat
    for other in range(len(counts)):
        if other != seat:
            outcome.transfer(seat, other, options["forfeit"])
    return outcome


# ---- what is added to the ending's payments


@dataclass
class Extras:
    """What else the hand pays for.

    Attributes:
        long_spreads: seats that laid a spread of four cards or more.
        swaps: seats that swapped a card for the widow.
        side_bets_won: winner and stakes from each other player, for each side bet won.
        multiplier: 2 in a doubled hand.
    """

    long_spreads: set[int]
    swaps: set[int]
    side_bets_won: list[tuple[int, float]]
    multiplier: float


def final_payments(outcome: Outcome, counts: list[int], extras: Extras, options: Options) -> list[float]:
    """What the hand pays in the unit of `scoring`: stakes, or minus the push-up points."""
    _pay_long_spread_bonus(outcome, extras.long_spreads, options["long_spread_bonus"])
    _pay_widow_fees(outcome, extras.swaps)
    if options["scoring"] == "push_ups":
        outcome.payments = _push_ups(outcome, counts)
    outcome.payments = [payment * extras.multiplier for payment in outcome.payments]
    for winner, stakes in extras.side_bets_won:
        for seat in range(len(counts)):
            if seat != winner:
                outcome.transfer(seat, winner, stakes)
    return outcome.payments


def _pay_long_spread_bonus(outcome: Outcome, long_spreads: set[int], bonus: float) -> None:
    for loser in long_spreads - outcome.winners:
        for winner in outcome.winners:
            outcome.transfer(winner, loser, bonus / len(outcome.winners))


def _pay_widow_fees(outcome: Outcome, swaps: set[int]) -> None:
    for seat in swaps:
        for winner in outcome.winners:
            outcome.transfer(seat, winner, 1 / len(outcome.winners))


def _push_ups(outcome: Outcome, counts: list[int]) -> list[float]:
    losers: set[int] = set()
    if outcome.winners:
        losers = set(range(len(counts))) - outcome.winners
    elif outcome.forfeiter is not None:
        losers = {outcome.forfeiter}
    return [-points * outcome.multiple if seat in losers else 0.0 for seat, points in enumerate(counts)]


def suit_bet_winner(hands: list[list[str]], suit: str, dealer: int, options: Options) -> int | None:
    """The seat dealt the highest card of the suit called (K high, A low), if anybody was dealt one."""
    ranks = options["deck"]["ranks"]
    highest = {
        seat: max(ranks.index(card[0]) for card in hand if card[1] == suit)
        for seat, hand in enumerate(hands)
        if any(card[1] == suit for card in hand)
    }
    if not highest:
        return None
    rivals = [seat for seat, place in highest.items() if place == max(highest.values())]
    return nearest_left(rivals, dealer, len(hands))
