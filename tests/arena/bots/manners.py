"""How a bot behaves, for those that are to misbehave at one point only."""

import json
import os
import sys
import time


def questions():
    """Gets ready and yields each question; whoever asks for the next has answered."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say("ready " + message["protocol"])
        elif message["type"] == "move":
            yield message


def say(text):
    print(text, flush=True)


def answer(question):
    """Plays on for long: drops only where nothing else is left."""
    say(question["legal"][-1])


def fork_sleeper(leaves_group=False):
    """Starts a process that stays for ten minutes and keeps the pipes open."""
    if os.fork() == 0:
        if leaves_group:
            os.setsid()
            if os.fork():
                os._exit(0)
        time.sleep(600)
        os._exit(0)
