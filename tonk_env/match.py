"""Several hands: who deals, which bets stand, which hands pay double, and when it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tonk_env._jit import below, mix
from tonk_env.cards import RANKS
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_BET_DEALS
from tonk_env.rules import LoweredRules, Rules, lower

BETS = ("suit", "naturals")
"""The side bets, in the order of `bet_deals` of a table."""
_CUTS = 1 << 40
"""The counter that the first dealer and cuts are drawn by; hands of a stream count from 0."""


def cut_for_deal(rules: Rules, num_players: int, key: int) -> tuple[int, list[list[str]]]:
    """Returns who deals first, and the cuts that decided it.

    Args:
        rules: `match.first_dealer` says by what the dealer is found.
        num_players: 2 to 6.
        key: equal keys give equal dealers.

    Returns:
        The dealer's seat; and for each cut the ranks turned up by those who still took part, aces low. By
        chance or by name there is no cut.

    Raises:
        TonkError: the seat named is not at the table.
    """
    how = rules.match.first_dealer
    if isinstance(how, int):
        if how >= num_players:
            raise TonkError(f"match.first_dealer = {how}: seats are 0 to {num_players - 1}")
        return how, []
    if how == "random":
        return below(mix(key, _CUTS), num_players), []
    # A card of a suit that is not looked at: ranks are what is drawn, and equal ones are cut again.
    ranks = rules.deck.ranks if len(rules.deck.ranks) > 1 else RANKS  # cuts of one rank would tie for ever
    left = list(range(num_players))
    cuts: list[list[str]] = []
    best = max if how == "high_card" else min
    while len(left) > 1:
        cut_key = mix(mix(key, _CUTS), len(cuts) + 1)
        turned = [below(mix(cut_key, seat), len(ranks)) for seat in left]
        cuts.append([ranks[rank] for rank in turned])
        left = [seat for seat, rank in zip(left, turned, strict=True) if rank == best(turned)]
    return left[0], cuts


def bet_winners(table: Any) -> dict[str, int | None]:
    """Returns who has won each side bet at a table (a record of STATE_DTYPE), or None.

    Of no meaning where the rules have no such bet.
    """
    seats = {bet: int(table[f"{bet}_winner"]) for bet in BETS}
    return {bet: seat if seat >= 0 else None for bet, seat in seats.items()}


class Match:
    """The course of a match.

    Args:
        rules: a preset's name, rules, or lowered ones; `match` and `side_bets` are what counts here.
        num_players: 2 to 6.
        dealer: who deals first.
        hands: hands in the match, in place of what the rules say of hands and target.

    Attributes:
        dealer: who deals the hand that is due.
        number: hands played.
        totals: stakes won by each seat; under push-ups minus the points.
        deals_since_won: of each side bet, how many deals it will have stood with the hand that is due.

    Raises:
        TonkError: there is no such seat, or `hands` is below 1.
    """

    def __init__(
        self, rules: str | Rules | LoweredRules, num_players: int, dealer: int = 0, hands: int | None = None
    ) -> None:
        self._rules = lower(rules).rules
        self._rules.check_players(num_players)
        if not 0 <= dealer < num_players:
            raise TonkError(f"dealer = {dealer}: seats are 0 to {num_players - 1}")
        if hands is not None and hands < 1:
            raise TonkError(f"hands = {hands}: a match is of one hand or more")
        self.hands = self._rules.match.hands if hands is None else hands
        self.target = self._rules.match.target if hands is None else None
        self.num_players, self.dealer, self.number = num_players, dealer, 0
        self.totals = [0.0] * num_players
        self.deals_since_won = dict.fromkeys(BETS, 1)

    @property
    def multiplier(self) -> float:
        """What the payments of the hand that is due are multiplied by, side bets apart."""
        is_last = self.hands is not None and self.number >= self.hands - self._rules.match.last_hands_double
        return 2.0 if is_last and self._rules.match.last_hands_double else 1.0

    @property
    def is_over(self) -> bool:
        """Whether the hands are played or the target is reached."""
        if self.hands is not None and self.number >= self.hands:
            return True
        sign = -1 if self._rules.scoring == "push_ups" else 1
        return self.target is not None and max(sign * total for total in self.totals) >= self.target

    @property
    def winners(self) -> list[int]:
        """The seats with the best total: the highest, which under push-ups is that of the fewest points."""
        return [seat for seat, total in enumerate(self.totals) if total == max(self.totals)]

    def book(self, payments: Sequence[float], bet_winners: Mapping[str, int | None]) -> None:
        """Books a hand: the dealer moves left, after a void hand too, and bets nobody won stand another deal.

        Args:
            payments: stakes by seat.
            bet_winners: who won each side bet; None: nobody.
        """
        self.totals = [total + paid for total, paid in zip(self.totals, payments, strict=True)]
        self.dealer = (self.dealer + 1) % self.num_players
        self.number += 1
        for bet, deals in self.deals_since_won.items():
            stands = bet_winners.get(bet) is None
            self.deals_since_won[bet] = min(deals + 1, MAX_BET_DEALS) if stands else 1
