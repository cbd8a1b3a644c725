import os
import sys

import manners

for number, _ in enumerate(manners.questions()):
    sys.stdout.buffer.write(
        [b"\xff\x00\x9b" + os.urandom(40).replace(b"\n", b""), b"{" * 900, b'{"move":7}'][number % 3]
    )
    manners.say("")
