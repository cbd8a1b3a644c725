"""Plays well, but does not end: not when told, not when its input closes, not at a polite signal."""

import signal
import time

import manners

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
for question in manners.questions():
    manners.answer(question)
while True:
    time.sleep(600)
