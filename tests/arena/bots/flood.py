"""Says a line of as many megabytes as it is told to."""

import sys

import manners

for _ in manners.questions():
    for _ in range(int(sys.argv[1])):
        sys.stdout.write("discard " * (1 << 17))
    sys.stdout.flush()
