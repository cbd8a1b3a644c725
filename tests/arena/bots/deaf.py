"""Gets ready, then closes its input and stays."""

import os
import time

import manners

manners.say("ready tonk-bot/1")
os.close(0)
time.sleep(600)
