"""One module a command, each with `add` (its arguments) and `run` (what it does; the exit code)."""
