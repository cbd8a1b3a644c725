import time

import manners

for _ in manners.questions():
    time.sleep(600)
