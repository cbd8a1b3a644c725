"""Tries to paint on the screen of whoever watches."""

import sys

import manners

for question in manners.questions():
    sys.stderr.write("\033]0;owned\007\u202e\r\n")
    sys.stderr.flush()
    manners.say("\033[2J\033[1;1H" + question["legal"][0] + "\u202e\u2028\x85\b\b")
