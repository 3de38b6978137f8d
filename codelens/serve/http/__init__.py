"""MCP over HTTP: the same tools for several clients at once, on a port of this machine."""
