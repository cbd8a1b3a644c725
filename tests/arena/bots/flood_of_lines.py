"""Says the right move, again and again."""

import sys

import manners

for question in manners.questions():
    line = question["legal"][0] + "\n"
    for _ in range(int(sys.argv[1])):
        sys.stdout.write(line * ((1 << 20) // len(line)))
