"""Command lines: how they are taken apart, and how a call of one ended."""
