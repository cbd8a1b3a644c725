"""Agents by name: what a config, a command or a report calls them."""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Callable
from typing import cast

from agents.base import Agent
from agents.expert import expert
from agents.heuristic import heuristic
from agents.process import PREFIX, ProcessAgent
from agents.random import RandomAgent
from agents.reference import reference
from tonk_env.errors import TonkError
from tonk_env.resources import CHECKPOINT_SUFFIXES, find_checkpoint, list_checkpoints

_NAMED: dict[str, Callable[[], Agent]] = {"random": RandomAgent, "reference": reference, "expert": expert}
_FORMS = (
    "random, heuristic:drop=T[,keep=W], reference, expert, package.module:Class, CHECKPOINT.zip[:greedy], "
    "TABLE.npz[:greedy], cmd:PROGRAM ARGUMENTS"
)
_LARGEST = 1000


def agent_names() -> list[str]:
    """Returns the names of the agents that ship: rule bots without options, and checkpoints."""
    return [*_NAMED, *list_checkpoints()]


def make(spec: str) -> Agent:
    """Returns an agent, not yet started.

    Args:
        spec: `random`, `heuristic:drop=T` (and `,keep=W`), `reference`, `expert`, `package.module:Class` (of
            no arguments; the current folder is searched too), `cmd:./mybot --flag` (a program that speaks the
            protocol of docs/BOTS.md), or a checkpoint: a path to a zip (a network) or an npz (a table), or
            the name of one that ships, with `:greedy` where it is to take its likeliest move, not draw one.

    Raises:
        TonkError: there is no such agent; the message says what is allowed.
    """
    if spec.startswith(PREFIX):
        return ProcessAgent(spec)
    name, _, options = spec.partition(":")
    if name == "heuristic":
        return _make_heuristic(spec, options)
    if name in _NAMED:
        if options or name != spec:
            raise TonkError(f"agent {spec!r}: {name} takes no options")
        return _NAMED[name]()
    path, colon, option = spec.rpartition(":")
    if not colon:
        path, option = spec, ""
    if path.endswith(CHECKPOINT_SUFFIXES) or path in list_checkpoints():
        if colon and option != "greedy":
            raise TonkError(f"agent {spec!r}: a checkpoint takes the option greedy, or none")
        file = find_checkpoint(path)
        # Imported here, for networks bring torch along.
        package = importlib.import_module("agents.neural" if file.suffix == ".zip" else "agents.tabular")
        agent = cast(Agent, package.load_agent(file, greedy=bool(colon)))
        agent.name = spec  # as it was called, not where it lies on this machine
        return agent
    names = (*path.split("."), *option.split("."))
    if colon and option != "greedy" and all(part.isidentifier() for part in names):
        return _make_from_class(spec, path, option)
    have = f"; checkpoints that ship: {', '.join(list_checkpoints())}" if list_checkpoints() else ""
    raise TonkError(f"no agent {spec!r}: allowed are {_FORMS}{have}")


def _make_heuristic(spec: str, options: str) -> Agent:
    form = f"agent {spec!r}: write heuristic:drop=T or heuristic:drop=T,keep=W"
    numbers: dict[str, float] = {}
    for option in options.split(","):
        key, _, text = option.partition("=")
        if key not in ("drop", "keep") or key in numbers:
            raise TonkError(form)
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number <= _LARGEST or (key == "drop" and number != int(number)):
            kind = "a whole number" if key == "drop" else "a number"
            raise TonkError(f"agent {spec!r}: {key} is {kind} of points from 0 to {_LARGEST}, not {text!r}")
        numbers[key] = number
    if "drop" not in numbers:
        raise TonkError(form)
    return heuristic(int(numbers["drop"]), numbers.get("keep"))


def _make_from_class(spec: str, module_name: str, class_name: str) -> Agent:
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())  # last, so that nothing that is installed is shadowed
    try:
        found: object = importlib.import_module(module_name)
        for part in class_name.split("."):
            found = getattr(found, part)
        agent = found() if callable(found) else found
    # Whatever a stranger's module raises, the user sees one line that names it.
    except Exception as error:
        raise TonkError(f"agent {spec!r}: {type(error).__name__}: {' '.join(str(error).split())}") from error
    if isinstance(found, type) and isinstance(agent, Agent):
        return agent
    raise TonkError(f"agent {spec!r}: {class_name} is no class with a name, start, act and end")
