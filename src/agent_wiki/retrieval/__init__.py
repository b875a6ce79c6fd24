"""Finds the pages of a wiki that apply to a task, without a model and without a network.

consult(wiki, task) -> list[Hit]        rows → words and meaning → one score → threshold → cover
read_pages(hits, max_tokens) -> str     the pages themselves, within a limit
"""

from agent_wiki.retrieval.consulting import Hit, consult
from agent_wiki.retrieval.reading import read_pages

__all__ = ["Hit", "consult", "read_pages"]
