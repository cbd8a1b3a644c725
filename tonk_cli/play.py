"""`tonk play`: one hand against agents, as plain lines of text."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tonk_cli.common import PlayersOption, RulesOption, amount_text, check_players, note_compiling
from tonk_env.errors import TonkError

if TYPE_CHECKING:
    from agents.base import Agent
    from tonk_env.hand import Event, Hand

YOU = 0
_DEALER, _AGENTS = 0, 1  # streams of chance beside the deck's
_HAND = 0  # its number, for agents that keep hands apart


def play(
    against: Annotated[
        list[str],
        typer.Option(
            help="An agent, such as reference or heuristic:drop=20; once for each other seat, or one."
        ),
    ],
    rules: RulesOption = "pagat",
    players: PlayersOption = 2,
    seed: Annotated[
        int | None, typer.Option(help="Equal seeds deal equal hands (default: a random one).")
    ] = None,
) -> None:
    """Play one hand against agents. Type moves as they are listed; q quits."""
    check_players(players)
    if len(against) not in (1, players - 1):
        raise TonkError(
            f"--against: {len(against)} agents; give one, or one for each of {players - 1} other seats"
        )
    if seed is not None and not 0 <= seed < 2**63:
        raise TonkError(f"--seed {seed}: 0 to 2**63 - 1 is allowed")
    note_compiling()
    from agents.registry import make
    from tonk_env._jit import below, mix
    from tonk_env.hand import Hand

    seed = secrets.randbits(31) if seed is None else seed
    dealer = int(below(mix(seed, _DEALER), players))
    hand = Hand(rules, players, dealer=dealer, seed=seed)
    agents = [make(spec) for spec in against * (1 if len(against) > 1 else players - 1)]
    for agent in agents:
        agent.start(hand.rules, players, seed)
    print(
        f"You are seat {YOU}. "
        + " ".join(f"Seat {seat} is {agent.name}." for seat, agent in enumerate(agents, 1))
    )
    print(f"Rules: {rules}. Dealer: seat {dealer}. Seed: {seed}. Type a move, or q to quit.")
    try:
        if _play(hand, agents, int(mix(seed, _AGENTS))):
            _show_end(hand, agents)
        else:
            print("You left the table; nobody pays.")
    finally:
        _dismiss(hand, agents)


def _dismiss(hand: Hand, agents: list[Agent]) -> None:
    """Tells agents how the hand ended, if it did, and that it was the last."""
    import numpy as np

    from agents.base import Follower

    for seat, agent in enumerate(agents, 1):
        if hand.ended and isinstance(agent, Follower):
            by = -1 if hand.ending_seat is None else hand.ending_seat
            agent.end_hand(_HAND, str(hand.ending), by, hand.payments or [])
        agent.end(np.array((hand.payments or [])[seat : seat + 1]))


def _play(hand: Hand, agents: list[Agent], key: int) -> bool:
    """Plays until the hand ends; returns whether it did, and the player did not quit."""
    told = 0
    while True:
        for event in hand.events[told:]:
            _tell(event)
        told = hand.num_moves
        seat = hand.to_move
        if seat is None:
            return True
        if seat != YOU:
            _make_move(hand, seat, agents[seat - 1], key)
        elif not _ask(hand):
            return False


def _make_move(hand: Hand, seat: int, agent: Agent, key: int) -> None:
    """Makes the move that an agent is asked for."""
    import numpy as np

    from agents.base import FORFEIT, Follower
    from tonk_env._jit import mix
    from tonk_env.view import VIEW_DTYPE

    views, legal = np.zeros(1, VIEW_DTYPE), np.zeros((1, hand.rules.max_legal), np.int16)
    views[0] = hand.view(seat)
    actions = hand.legal_actions()
    legal[0, : len(actions)] = actions
    keys = np.array([mix(mix(key, seat), hand.num_moves)], np.int64)
    if isinstance(agent, Follower):
        agent.follow(np.array([_HAND]))
    chosen = int(agent.act(views, legal, np.array([len(actions)], np.int64), keys)[0])
    if chosen == FORFEIT:
        hand.forfeit(seat)
        why = getattr(agent, "last_trouble", "")
        print(f"Seat {seat} forfeits the hand{f' ({why})' if why else ''}.")
        return
    if chosen not in actions:
        raise TonkError(
            f"agent {agent.name} chose action {chosen}, which is not legal: {', '.join(hand.legal_moves())}"
        )
    hand.apply(chosen)


def _ask(hand: Hand) -> bool:
    """Shows the table and makes the move that is typed; returns False where the player quits."""
    _show_table(hand)
    while True:
        try:
            typed = input("> ")
        except EOFError:
            print()
            return False
        move = _tidy(typed)
        if move in ("q", "quit"):
            return False
        try:
            if move:
                hand.apply(move)
                return True
        except TonkError as error:
            print(error)


def _tidy(typed: str) -> str:
    """What was typed as a move is written: cards as ``8h`` and ``Th``, however they were typed."""
    from tonk_env.cards import CARD_TEXT, JOKER

    kind, *rest = typed.split()[:1] + typed.split()[1:] if typed.split() else [""]
    cards = " ".join(rest).replace("10", "T")
    if kind.lower() == "target":
        cards = cards.lower()
    else:
        cards = "".join(_card_letter(letter) for letter in cards).replace("JK", CARD_TEXT[JOKER])
    return f"{kind.lower()} {cards}".strip()


def _card_letter(letter: str) -> str:
    return letter.upper() if letter.lower() in "atjqk" else letter.lower()


def _show_table(hand: Hand) -> None:
    print()
    for seat in range(hand.num_players):
        cards = int(hand.view(YOU)["num_cards"][seat])
        who = "you hold" if seat == YOU else f"seat {seat} holds"
        spreads = ", ".join(hand.spreads[seat]) or "none"
        print(f"  {who} {cards} cards; spreads: {spreads}")
    print(f"  top discard: {hand.top or 'none'}; stock: {hand.stock_size} cards")
    print(f"Your hand: {' '.join(hand.hands[YOU])}   count {hand.counts[YOU]}")
    print(f"Moves: {_grouped(hand.legal_moves())}")


def _grouped(moves: list[str]) -> str:
    """Lists moves on one line, the discards as one entry."""
    thrown = [move.split()[1] for move in moves if move.startswith("discard ")]
    parts = [move for move in moves if not move.startswith("discard ")]
    return ", ".join(parts + ([f"discard {' | '.join(thrown)}"] if thrown else []))


def _tell(event: Event) -> None:
    """Says what was done, as seen from the player's seat."""
    from tonk_env.cards import CARD_TEXT
    from tonk_env.hand import FORFEIT

    words: dict[str, Any] = {
        "drop": "drops",
        "stock": "draws from the stock",
        "take": "takes the top discard",
        "swap": "swaps a card for the widow",
        "keep": "keeps its cards",
        "claim": "claims the hand",
        "slap": "slaps the discard",
        "pass": "passes",
    }
    kind, _, cards = event.move.partition(" ")
    if event.move == FORFEIT:
        return  # told already, with the reason
    if event.seat == YOU:
        if event.drawn is not None:
            print(f"You {'get' if kind == 'swap' else 'draw'} {CARD_TEXT[event.drawn]}.")
        return
    if kind == "target":
        seat, index, *end = cards.split()
        done = f"hits spread {index} of seat {seat}{' at the ' + end[0] + ' end' if end else ''}"
    else:
        done = words.get(kind) or f"{kind}s {cards}"
    print(f"Seat {event.seat} {done}.")


def _show_end(hand: Hand, agents: list[Agent]) -> None:
    print()
    by = (
        ""
        if hand.ending_seat is None
        else f" by {'you' if hand.ending_seat == YOU else f'seat {hand.ending_seat}'}"
    )
    print(f"The hand ends: {hand.ending}{by}.")
    payments = hand.payments or []
    for seat, amount in enumerate(payments):
        who = "you" if seat == YOU else f"seat {seat} ({agents[seat - 1].name})"
        cards = " ".join(hand.hands[seat]) or "no cards"
        print(f"  {who}: {cards}, count {hand.counts[seat]}, paid {amount_text(amount)}")
