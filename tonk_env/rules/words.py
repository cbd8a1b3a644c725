"""Numbers, amounts, lists and cards in English, for the texts that describe rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tonk_env.cards import RANKS

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TIMES = {0.5: "half", 1.0: "", 2.0: "twice"}
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
_RANK_NAMES = ("ace", *map(str, range(2, 11)), "jack", "queen", "king")
_PLURALS = {"2": "deuces", "10": "tens"}


def number(value: int) -> str:
    """Returns a number in words up to ten, in digits beyond."""
    return _NUMBERS[value] if 0 <= value < len(_NUMBERS) else str(value)


def counted(value: int, noun: str) -> str:
    """Returns so many of something: ``one card``, ``five cards``."""
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def stakes(amount: float) -> str:
    """Returns an amount of stakes: ``nothing``, ``half a stake``, ``1 stake``, ``2.5 stakes``."""
    special = {0.0: "nothing", 0.5: "half a stake", 1.0: "1 stake"}
    return special.get(amount, f"{amount:g} stakes")


def times(factor: float, noun: str) -> str:
    """Returns a multiple of something: ``twice the count``, ``three times the count``."""
    if not factor:
        return "nothing"
    whole = number(int(factor)) if factor == int(factor) else f"{factor:g}"
    return f"{_TIMES.get(factor, f'{whole} times')} {noun}".strip()


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Returns parts in a row: ``a, b and c``."""
    *most, end = parts
    return f"{', '.join(most)} {last} {end}" if most else end


def sentence(text: str) -> str:
    """Returns the text with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def rank_names(ranks: Iterable[str]) -> list[str]:
    """Returns the names of ranks: ``7``, ``jack``."""
    return [_RANK_NAMES[RANKS.index(rank)] for rank in ranks]


def rank_plurals(ranks: Iterable[str]) -> list[str]:
    """Returns the names of all cards of ranks: ``deuces``, ``3s``, ``jacks``."""
    return [_PLURALS.get(name, f"{name}s") for name in rank_names(ranks)]


def spans(numbers: Sequence[int]) -> str:
    """Returns numbers in words, neighbours drawn together: ``two to four and six``."""
    runs: list[list[int]] = []
    for value in numbers:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    parts = [
        number(run[0])
        if len(run) == 1
        else f"{number(run[0])} {'or' if len(run) == 2 else 'to'} {number(run[-1])}"
        for run in runs
    ]
    return listed(parts, "or")
