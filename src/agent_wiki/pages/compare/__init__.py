"""Compares pages and sessions with each other, without a model."""
