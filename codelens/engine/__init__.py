"""The engine: what codelens can do, for Python, MCP and the command line alike."""
