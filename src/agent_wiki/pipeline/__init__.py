"""Whole runs: from recordings to a wiki on disk."""
