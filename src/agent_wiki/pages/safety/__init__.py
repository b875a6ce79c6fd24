"""Judges what a page or a script tells an agent to do, without running any of it."""
