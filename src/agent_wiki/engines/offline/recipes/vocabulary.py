"""The programs, subcommands and task names whose purpose is known, as one verb each: `tables/vocabulary.toml`."""

from __future__ import annotations

from agent_wiki.engines.offline.tables import head_of_word, table

_TABLE = table("vocabulary")

VERB_OF_PROGRAM = head_of_word(_TABLE["programs"])
VERBS_OF_SUBCOMMANDS = {program: head_of_word(verbs) for program, verbs in _TABLE["subcommands"].items()}
VERB_OF_TASK_WORD = head_of_word(_TABLE["task_words"])
KIND_OF_WORD = head_of_word(_TABLE["kinds"])
