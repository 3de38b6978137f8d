"""The command line: parses, calls the engine, prints. Everything heavy is imported late."""
