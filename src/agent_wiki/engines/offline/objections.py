"""Objections that users of coding agents raise again and again, and the rule each one asks for.

As with the table of remedies, an entry alone is no lesson: a session has to hold the objection, after a refusal
or a report of something as done, and the entry's `needs` has to be true of what the agent did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agent_wiki.engines.offline.lessons import Wording

# What must be true of the session besides the words, see `signals/objections.py`.
Need = Literal["nothing", "no check ran", "a test is added", "agent concedes", "git writes", "version edited"]


@dataclass(frozen=True, slots=True)
class Objection:
    """`words` is looked for in the user's text, in lower case with straight apostrophes."""

    wording: Wording
    words: re.Pattern[str]
    needs: Need = "nothing"


def _objection(
    rule_id: str, title: str, rule: str, trigger: str, tags: str, words: str, needs: Need = "nothing"
) -> Objection:
    return Objection(Wording(rule_id, title, rule, trigger, tuple(tags.split())), re.compile(words), needs)


OBJECTIONS: tuple[Objection, ...] = (
    _objection(
        "objections/checks-before-report",
        "Run checks before reporting success",
        "After the last edit, run the build and the tests that cover the change, and report it as done only when they "
        "pass.",
        "About to tell the user that a change is done, fixed or complete.",
        "verification testing reporting",
        r"\b(?:is|are|still|it's|keeps?) (?:failing|broken|red\b|not working|crashing)|\b(?:doesn't|does not|won't"
        r"|don't) "
        r"(?:work|compile|build|pass|run|start)\b|\b(?:tests?|build|ci|lint|it) (?:still )?fail(?:s|ed)?\b|^fix this: "
        r"|\b(?:error|exception|traceback)\b.{0,80}\b(?:now|when i|still|again)\b|\bi (?:still )?(?:get|see) "
        r"(?:this|an|the) error",
        "no check ran",
    ),
    _objection(
        "objections/regression-test",
        "Add a regression test with fixes",
        "Add a test that fails without the change to every fix of logic, in the same piece of work, before "
        "reporting it "
        "as done.",
        "A fix or a change of logic is finished and no test covers it.",
        "testing regression-test reviews",
        r"\b(?:is|are|were) there (?:a |any )?(?:regression |unit )?tests?\b|\b(?:no|missing|where (?:is"
        r"|are) the)"
        r" (?:\w+ )?tests?\b|\bdid(?:n't| not)? you (?:add|write) (?:a |any )?(?:\w+ )?tests?\b|\b(?:need|add|want"
        r"|should have)"
        r" (?:a |some )?(?:regression |unit )tests?\b",
        "a test is added",
    ),
    _objection(
        "objections/invented-settings",
        "Check settings in the documentation first",
        "Look a setting, option or API up in the tool's own documentation or source before proposing it, and "
        "propose only "
        "what is found there.",
        "About to write configuration or calls for a tool from memory.",
        "documentation configuration verification",
        r"\b(?:made|make|making) (?:it|this|that|them) up\b|\bhallucinat|\byou invented\b|\b(?:option|setting|flag"
        r"|function"
        r"|method|api|command|config|parameter|field|key|property|action|module)\b.{0,40}\b(?:doesn't|does not|don't"
        r"|do not) (?:even |actually )?exist\b|\bno such (?:thing|option|setting|flag|function|api|command|method)\b",
        "agent concedes",
    ),
    _objection(
        "objections/versions-raised",
        "Raise every version with a feature",
        "Raise the version in every manifest that carries it as part of a feature or release change: search for the "
        "old "
        "version and leave none behind.",
        "A feature or release is about to be handed over in a repository whose manifests carry a version.",
        "versioning releases manifests",
        r"\b(?:need to|should|shouldn't|have to|forgot|didn't|did not|must)\b.{0,30}\b(?:bump|raise|update|increase)\b"
        r".{0,20}\bversions?\b|\b(?:bump|raise|update|increase)\b.{0,20}\bversions?\b.{0,20}(?:\bno\?|\btoo\b|\bas "
        r"well\b)",
        "version edited",
    ),
    _objection(
        "objections/unasked-commit",
        "Commit and push only when asked",
        "Leave committing, pushing and merging to an explicit request of the user; report the change and wait.",
        "A change is finished and the user has not asked for a commit or push.",
        "git commit user-consent",
        r"\b(?:do not|don't|never|stop|why (?:did|are) you|didn't ask (?:you )?to|did not ask (?:you )?to)\b.{0,40}"
        r"\b(?:commit|push|merge)",
        "git writes",
    ),
    _objection(
        "objections/scope-kept",
        "Keep changes to what was asked",
        "Change only what the request names; leave other code, files and wording as they are, and ask before going "
        "further.",
        "A request names one thing, and something next to it looks worth changing too.",
        "scope edits user-consent",
        r"\b(?:didn't|did not|never) ask(?:ed)? (?:you )?(?:for|to)\b|\bnot what (?:i|we) (?:asked|wanted|meant)\b"
        r"|\b(?:too many|unrelated) changes\b|\bwhy (?:did|are|have) you (?:chang|touch|edit|refactor|renam|delet"
        r"|remov)"
        r"|\b(?:put|add|bring) (?:it|that|them|this) back\b|\byou (?:removed|deleted|dropped|broke)\b",
    ),
    _objection(
        "objections/smallest-change",
        "Start with the smallest change",
        "Propose the smallest change that meets the request first; add structure, options or abstractions only when "
        "the "
        "user asks for them.",
        "A request could be met with a few lines, and a larger design comes to mind.",
        "simplicity design scope",
        r"\bover-?engineer|\boverkill\b|\btoo (?:complicated|complex)\b|\bkeep it simple\b|\bsimplify (?:this|it"
        r"|that)\b"
        r"|\bisn't there (?:a|an) (?:simpler|easier)\b|\bwhy so (?:complicated|complex|much)\b",
    ),
    _objection(
        "objections/one-machine-setup",
        "Keep set-up independent of one machine",
        "Choose set-up that works for every contributor: declared in the project and cross-platform, not resting on "
        "what "
        "happens to be installed on one machine.",
        "A project gets a development server, a script or another piece of set-up.",
        "tooling portability setup",
        r"\bassumptions about (?:people|other|the user|users|the environment)|\bonly works? (?:for|on) (?:me|my|your)\b"
        r"|\bon (?:other|everyone(?: else)?'s|other people's|a clean|a fresh) (?:machines?|checkouts?|laptops?)\b"
        r"|\b(?:not everyone|others? (?:don't|won't|may not)|people (?:don't|won't|may not)) (?:has|have)\b"
        r"|\b(?:isn't|not) (?:portable|cross-platform)\b|\bhard-?coded? (?:path|home)",
    ),
    _objection(
        "objections/short-reports",
        "Keep reports and descriptions short",
        "Keep descriptions, comments and reports short: say what changed and why, and leave the rest out.",
        "Writing a description, a comment or a report for the user.",
        "writing reporting style",
        r"\btoo (?:verbose|wordy)\b|\bmore concise\b|\bless verbose\b|\bmake (?:it|this|that) shorter\b",
    ),
)
