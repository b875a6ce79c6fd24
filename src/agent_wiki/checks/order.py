"""All checks, in the order of the way from files to recordings. A new check is a line of its family's module."""

from __future__ import annotations

from agent_wiki.checks.check import Check
from agent_wiki.checks.configuration import CONFIGURATION
from agent_wiki.checks.files import FILES
from agent_wiki.checks.ids import IDS
from agent_wiki.checks.index import INDEXES
from agent_wiki.checks.links import LINKS
from agent_wiki.checks.pages import PAGES
from agent_wiki.checks.provenance import PROVENANCE
from agent_wiki.checks.quarantine import QUARANTINE
from agent_wiki.checks.recordings import RECORDINGS
from agent_wiki.checks.records import RECORDS
from agent_wiki.checks.rendering import RENDERING
from agent_wiki.checks.secrets import SECRETS
from agent_wiki.checks.skills import SKILLS

CHECKS: tuple[Check, ...] = (
    *CONFIGURATION,
    *FILES,
    *RECORDS,
    *PAGES,
    *SKILLS,
    *IDS,
    *LINKS,
    *INDEXES,
    *RENDERING,
    *PROVENANCE,
    *QUARANTINE,
    *SECRETS,
    *RECORDINGS,
)
