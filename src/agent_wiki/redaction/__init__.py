"""Secrets out of text, before anything else sees it."""
