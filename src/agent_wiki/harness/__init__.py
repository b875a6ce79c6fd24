"""The wiki among agent programs: hooks, saved sessions, pointers, the MCP server, skills."""
