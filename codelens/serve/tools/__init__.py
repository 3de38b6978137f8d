"""The MCP tools, one module a group."""
