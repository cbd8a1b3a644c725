"""Rules that cannot be are refused in one line: the file, the option, its value and what is allowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tonk_env.errors import TonkError
from tonk_env.rules import load_rules

MUST_DROP = "stock_out.result = 'must_drop'"
FLOOR = "going_out.stock_floor = 'players'"

CLASHES = {
    # Options that cannot go together.
    "[drop]\nallowed = false\n[stock_out]\nresult = 'must_drop'": (
        f"drop.allowed = false clashes with {MUST_DROP}: choose one of them"
    ),
    "[drop]\nallowed = false\n[going_out]\nstock_floor = 'players'": (
        f"drop.allowed = false clashes with {FLOOR}: choose one of them"
    ),
    "[spreads]\nlock_after = 3\n[stock_out]\nresult = 'must_drop'": (
        f"spreads.lock_after = 3 clashes with {MUST_DROP}: choose one of them"
    ),
    "[spreads]\nlock_after = 3\n[going_out]\nstock_floor = 'players'": (
        f"spreads.lock_after = 3 clashes with {FLOOR}: choose one of them"
    ),
    "base = 'runout'\n[spreads]\nlock_after = 3": (
        f"spreads.lock_after = 3 clashes with {MUST_DROP}: choose one of them"
    ),
    "base = 'push_ups'\n[side_bets]\nsuit = 1": (
        "scoring = 'push_ups' clashes with side_bets.suit = 1.0: choose one of them"
    ),
    "base = 'push_ups'\n[side_bets]\nnaturals = 0.5": (
        "scoring = 'push_ups' clashes with side_bets.naturals = 0.5: choose one of them"
    ),
    "base = 'push_ups'\n[deal]\nwidow = true": (
        "scoring = 'push_ups' clashes with deal.widow = true: choose one of them"
    ),
    "base = 'hittin_and_splittin'\nscoring = 'push_ups'": (
        "scoring = 'push_ups' clashes with long_spread_bonus = 0.5: choose one of them"
    ),
    "[match]\nlast_hands_double = 3": (
        "match.last_hands_double = 3: needs a match of that many hands or more, and hands = 1"
    ),
    "[match]\nhands = 2\nlast_hands_double = 3": (
        "match.last_hands_double = 3: needs a match of that many hands or more, and hands = 2"
    ),
    "[match]\ntarget = 50\nlast_hands_double = 3": (
        "match.last_hands_double = 3: needs a match of that many hands or more, and hands = 'none'"
    ),
    "[match]\nhands = 'none'": "match.hands = 'none': needs a target, or the match never ends",
}
IMPOSSIBLE = {
    # Hands that cannot be dealt, or not win.
    "[deck]\nranks = 'A2345'\nsuits = 1\n[deal]\nhand_size = 2": (
        "deal.hand_size = 2: hands, widows and upcard leave no stock card of 5, whatever the number"
    ),
    "[deck]\nranks = 'A2345'\nsuits = 1\n[deal]\nhand_size = 1\nwidow = true": (
        "deal.hand_size = 1: hands, widows and upcard leave no stock card of 5, whatever the number"
    ),
    "[[instant_wins.tiers]]\ncounts = [51]": (
        "instant_wins.tiers[0]: no dealt hand can meet it (counts = (51,))"
    ),
    "[[instant_wins.tiers]]\nat_most = 5": "instant_wins.tiers[0]: no dealt hand can meet it (at_most = 5)",
    "base = 'baton_rouge'\n[instant_wins]\ntiers = [{ counts = [50] }, { counts = [48] }]": (
        "instant_wins.tiers[1]: no dealt hand can meet it (counts = (48,))"
    ),
    "[deal]\nhand_size = 5\n[[instant_wins.tiers]]\nall_ranks = 'K'": (
        "instant_wins.tiers[0]: no dealt hand can meet it (all_ranks = K)"
    ),
    "[[instant_wins.tiers]]\npays = 2": (
        "instant_wins.tiers[0].counts = []: a tier needs at least one of counts, at_most and all_ranks"
    ),
    "[deck]\nranks = 'A345'\nwild_ranks = '2'": (
        "deck.wild_ranks = '2': 2 is not among the deck's ranks A345"
    ),
}
VALUES = {
    # Values that an option does not take.
    "[deck]\nranks = 'KQJ'": (
        "deck.ranks = 'KQJ': ranks must be some of A23456789TJQK, each once, in that order"
    ),
    "[deck]\nranks = ''": "deck.ranks = '': String should have at least 1 character",
    "[deck]\nsuits = 5": "deck.suits = 5: Input should be less than or equal to 4",
    "[deck]\npacks = 3": "deck.packs = 3: Input should be 1, 2 or 'auto'",
    "[deck]\njokers = 5": "deck.jokers = 5: Input should be less than or equal to 4",
    "[deck]\njokers = true": "deck.jokers = 'true': Input should be a valid integer",
    "[deck]\njoker_role = 'tame'": "deck.joker_role = 'tame': Input should be 'wild' or 'dead'",
    "[deck]\nwild_ranks = '234'": "deck.wild_ranks = '234': String should have at most 2 characters",
    "[deck.values]\nX = 1": "deck.values.X = 1: not a rank of A23456789TJQK, nor Jk",
    "[deck.values]\nJk = 40": "deck.values.Jk = 40: not within 0 to 39",
    "[deal]\nhand_size = 14": (
        "deal.hand_size = 14: Input should be less than or equal to 13; or Input should be a table"
    ),
    "[deal]\nhand_size = { 7 = 5 }": ("deal.hand_size = {7: 5}: a table goes by number of players, 2 to 6"),
    "[deal]\nhand_size = { 2 = 14 }": "deal.hand_size.2 = 14: Input should be less than or equal to 13",
    "[deal]\nhand_size = { two = 5 }": "deal.hand_size.two = 'two': Input should be a valid integer",
    "[spreads]\nace = 'high'": "spreads.ace = 'high': Input should be 'low', 'low_or_high' or 'wrap'",
    "[spreads]\nmust_spread = true": (
        "spreads.must_spread = 'true': Input should be 'no', 'yes' or 'except_aces'"
    ),
    "[spreads]\nlock_after = 0": "spreads.lock_after = 0: Input should be greater than or equal to 1",
    "[spreads]\nmin_naturals = 3": "spreads.min_naturals = 3: Input should be less than or equal to 2",
    "[spreads]\nhits_per_turn = 'many'": "spreads.hits_per_turn = 'many': Input should be a valid integer",
    "[spreads]\ntaken_must_meld = 'often'": (
        "spreads.taken_must_meld = 'often': Input should be a valid boolean"
    ),
    "[[instant_wins.tiers]]\ncounts = [50]\nclaim = 'later'": (
        "instant_wins.tiers[0].claim = 'later': Input should be 'none' or 'first_turn'"
    ),
    "[[instant_wins.tiers]]\ncounts = [50]\npays = -1": (
        "instant_wins.tiers[0].pays = -1: Input should be greater than or equal to 0"
    ),
    "[instant_wins]\ntiers = 3": "instant_wins.tiers = 3: Input should be a list",
    "[instant_wins]\ntie = 'split'": (
        "instant_wins.tie = 'split': Input should be 'void', 'nearest_left' or 'all_paid'"
    ),
    "[drop]\nmax_count = false": "drop.max_count = 'false': Input should be a valid integer",
    "[drop]\npays = 101": "drop.pays = 101: Input should be less than or equal to 100",
    "[drop]\npays = nan": "drop.pays = nan: Input should be",
    "[drop]\ncaught = 'pagatt'": "drop.caught = 'pagatt': not a caught table: pagat, low_takes_all",
    "[drop.caught]\nlowest = -1": "drop.caught.lowest = -1: Input should be greater than or equal to 0",
    "[waiting]\nafter_hit = -1": "waiting.after_hit = -1: Input should be greater than or equal to 0",
    "[going_out]\nno_earlier_spread = 'no'": (
        "going_out.no_earlier_spread = 'no': Input should be a valid number"
    ),
    "[going_out]\nstock_floor = 'one'": "going_out.stock_floor = 'one': Input should be 'none' or 'players'",
    "[stock_out]\nresult = 'draw'": (
        "stock_out.result = 'draw': Input should be 'lowest_wins', 'void' or 'must_drop'"
    ),
    "slap = 2": "slap = 2: Input should be a valid boolean",
    "scoring = 'money'": "scoring = 'money': Input should be 'stakes' or 'push_ups'",
    "turn_limit = 0": "turn_limit = 0: Input should be greater than or equal to 1",
    "[match]\nhands = 0": "match.hands = 0: Input should be greater than or equal to 1",
    "[match]\ntarget = 0": "match.target = 0: Input should be greater than 0",
    "[match]\ntarget = inf": "match.target = inf: Input should be a finite number",
    "[match]\nfirst_dealer = 6": (
        "match.first_dealer = 6: Input should be 'random', 'high_card' or 'low_card'; "
        "or Input should be less than 6"
    ),
    "drop = 3": "drop = 3: Input should be a table",
}
NAMES = {
    # Options and bases that are not there.
    "[drop]\npayz = 2": (
        "drop.payz: no such option (did you mean pays?); "
        "there are allowed, max_count, pays, tie_with_dropper, caught"
    ),
    "[droop]\npays = 2": "droop: no such option (did you mean drop?); there are deck, deal, spreads",
    "[[instant_wins.tiers]]\ncount = 50": (
        "instant_wins.tiers[0].count: no such option (did you mean counts?); there are counts, at_most"
    ),
    "[drop.caught]\nhighest = 2": "drop.caught.highest: no such option",
    "base = 'whist'": "base: no rules preset 'whist': give a path to a .toml file, or one of",
    "base = 3": "base = 3 is not the name of a preset",
    "base =": "not a readable TOML file: ",
}
REFUSED = CLASHES | IMPOSSIBLE | VALUES | NAMES


@pytest.mark.parametrize("text", REFUSED)
def test_refused_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(TonkError) as refused:
        load_rules(file)
    message = str(refused.value)
    assert message.startswith(f"{file}: {REFUSED[text]}")
    assert "\n" not in message


def test_a_file_that_is_its_own_base(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"base = {str(file)!r}")
    with pytest.raises(TonkError, match="leads back to itself"):
        load_rules(file)


@pytest.mark.parametrize("players", [1, 5, 7])
def test_a_table_of_hand_sizes_without_the_number_of_players(players: int) -> None:
    rules = load_rules("wikipedia")
    rules.check_players(4)
    with pytest.raises(TonkError) as refused:
        rules.check_players(players)
    assert str(refused.value) == f"players = {players}: these rules are played by 2, 3, 4"


def test_the_command_refuses_likewise(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("base = 'runout'\n[spreads]\nlock_after = 3\n")
    command = [sys.executable, "-m", "tonk_cli", "rules", "describe", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"tonk: {file}: spreads.lock_after = 3 clashes with {MUST_DROP}: choose one of them\n"
    )
