"""The commands: `add_NAME` defines the arguments, `run_NAME` returns the exit code."""
