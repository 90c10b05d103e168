"""kgagent mcp: the agent's tools for MCP clients."""
