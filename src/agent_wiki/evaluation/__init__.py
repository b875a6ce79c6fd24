"""Measuring sessions and comparing arms of an experiment: whether a wiki helped, by how much, how sure one can be."""
