import manners

for question in manners.questions():
    manners.say("let me think\n" + question["legal"][0])
