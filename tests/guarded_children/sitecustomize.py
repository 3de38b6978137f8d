"""Blocks connections to other machines in Python children of tests; imported at their start.

`tests/conftest.py` puts the folder into PYTHONPATH. An audit hook cannot be removed, and also sees
sockets of C code that goes through Python's module. It raises in the process that connects.
Nothing is imported before the first connection.
"""

import os
import sys


def _watch(event, args):
    if event in {"socket.connect", "socket.sendto"} and isinstance(args[1], tuple):
        from socket_guard import CONNECTIONS, OtherMachine, is_here

        if not is_here(args[1]):
            note = os.environ.get(CONNECTIONS)
            if note:
                with open(note, "a", encoding="utf-8") as file:
                    file.write(f"{args[1]!r} by {sys.argv[:3]!r}\n")
            raise OtherMachine(f"a connection to {args[1]!r} was begun")


sys.addaudithook(_watch)
