"""Connects agent programs with a wiki: hooks, saved sessions, pointers, the MCP server, skills."""
