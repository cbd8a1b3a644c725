"""A bot for the arena in plain Python: tonk check-bot "cmd:python3 examples/bots/simple_bot.py".

It reads a line of JSON and answers a line with a move. It keeps nothing in mind: each question tells all that
its seat may know. docs/BOTS.md describes the lines.
"""

import json
import sys


def choose(ask: dict, values: dict) -> str:
    def worth(card: str) -> int:
        return values["Jk" if card == "Jk" else card[0]]

    kinds = {move.split()[0]: move for move in ask["legal"]}
    for kind in ("claim", "spread", "hit", "target", "slap", "keep"):
        if kind in kinds:
            return kinds[kind]
    if "drop" in kinds and (ask["count"] <= 12 or len(kinds) == 1):
        return "drop"
    ranks = [card[0] for card in ask["cards"]]
    if "take" in kinds and "stock" in kinds:
        # For a set, or because a low card is better than an unknown one of about seven points.
        return "take" if ranks.count(ask["top"][0]) > 1 or worth(ask["top"]) <= 3 else "stock"
    throws = [move for move in ask["legal"] if move.startswith("discard ")]
    if throws:
        # The dearest card that is not half of a set.
        return max(throws, key=lambda move: worth(move[8:]) - 8 * (ranks.count(move[8]) > 1))
    return ask["legal"][0]


values = {}
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        values = message["values"]
        print(json.dumps({"ready": message["protocol"]}), flush=True)
    elif message["type"] == "move":
        print(json.dumps({"move": choose(message, values)}), flush=True)
