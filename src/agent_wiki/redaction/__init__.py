"""Removes secrets from text before anything else sees it."""
