"""Measures sessions and compares the arms of an experiment: whether a wiki helped, how much, and how sure that is."""
