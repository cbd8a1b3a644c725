"""Ends while something that it started keeps its pipes open."""

import os

import manners

for _ in manners.questions():
    manners.fork_sleeper()
    os._exit(0)
