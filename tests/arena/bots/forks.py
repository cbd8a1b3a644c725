"""Starts processes in its group and out of it, and plays well otherwise."""

import manners

for question in manners.questions():
    manners.fork_sleeper()
    manners.fork_sleeper(leaves_group=True)
    manners.answer(question)
