import os

import manners

for number, question in enumerate(manners.questions()):
    if number == 3:
        os.abort()
    manners.answer(question)
