"""The MCP server: validates, calls the engine, shapes a compact answer."""
