import json

import manners

for question in manners.questions():
    manners.say(json.dumps({"seat": 1 - question["seat"], "move": question["legal"][0]}))
