import manners

for question in manners.questions():
    manners.say("take" if "take" not in question["legal"] else "discard " + question["top"])
