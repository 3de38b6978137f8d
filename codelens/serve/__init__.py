"""The MCP server: validates arguments, calls the engine, and renders a compact answer."""
