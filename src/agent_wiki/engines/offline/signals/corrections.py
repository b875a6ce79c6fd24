"""What the user wants used, kept or left out, in the user's own words (signals 1 and 2).

A rule is made of the words only when they are short and clear, speak of things that mean something elsewhere,
and the agent then followed them; everything else is left to the reader of the session.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import MinedSession, is_edit
from agent_wiki.engines.offline.changes import is_prose
from agent_wiki.engines.offline.generalize import generalize
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson, tag
from agent_wiki.engines.offline.norms import ON_SCREEN, is_standing, names_own_things
from agent_wiki.engines.offline.tables import named, written
from agent_wiki.engines.offline.user_words import UserWords, user_words, with_reason
from agent_wiki.shell.programs import SHOWING
from agent_wiki.shell.tools import EDIT_TOOLS
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_THING = r"[\w`'\"./@+#-]{1,40}(?: [\w`'\"./@+#-]{1,40}){0,4}?"
_END = r"(?=\s{0,3}(?:[.,;:!?)]|$|\b(?:for|because|since|so|when|if|as|please|here|though|everywhere|in|on|to|and)\b))"
_PARTS = {"X": f"(?P<new>{_THING})", "Y": f"(?P<old>{_THING})", "$": _END}
_INSTEAD = tuple(
    regex(re.sub(r"\b[XY]\b|\$$", lambda part: _PARTS[part[0]], pattern), re.IGNORECASE)
    for pattern in (
        r"\b(?:use|prefer|go with|switch to|try|with) X (?:instead of|rather than|over|in place of|and not|,? not) Y$",
        r"\b(?:don['’]t|do not|never|stop) us(?:e|ing) Y(?:,|;| -| and| but)? (?:just |please )?(?:use|go with) X$",
        r"\b(?:not|no) Y(?:,|;| -| but)? (?:please )?use X$",
        r"\b(?:replace|swap) Y (?:with|by|for) X$",
        r"\binstead of Y,? (?:please )?(?:use|go with) X$",
    )
)
_USE = written("use_instead", re.I)
_ONLY_FOR = written("only_for")
_VAGUE = written("vague_words", re.IGNORECASE)
_ONE_OFF = written("of_this_once", re.IGNORECASE)
# A polite question is a new task, unless it speaks of things that have names of their own.
_POLITE = regex(r"^\W*(?:hey,? |ok,? |please )?(?:can|could|would|should|shall|may|do|is|are|how|what) ", re.IGNORECASE)
_OWN_QUESTION = regex(r"\b(?:can|could|should|shall|may|do|must) i\b", re.IGNORECASE)  # what the user wants to know
_NAMED = regex(r"`[^`]+`|\w[._/:-]\w|[a-z][A-Z]|^--|[A-Z]{2}|\d")
_KNOWN_NAMES = named("known")
_CHANGERS = frozenset({"rm", "mv", "cp", "mkdir", "touch", "kill", "tar", "unzip", "rsync", "wget", "chmod"})


def lessons(session: MinedSession) -> list[Lesson]:
    """Lessons in the words of the user; none for sessions in which the user is a customer."""
    if not session.has_workspace:
        return []
    found: list[Lesson] = []
    for words in user_words(session):
        found += _replaced_program(session, words)
        for sentence in words.sentences:
            found += _instead(session, words, sentence)
    return found


def _replaced_program(session: MinedSession, words: UserWords) -> list[Lesson]:
    """`use pnpm`, as the reason why `npm install` was refused; the next command runs it."""
    match = _USE.match(words.text.strip())
    line = words.rejected.command() if words.rejected else None
    if not match or line is None:
        return []
    refused = shell.actions(line)
    following = {call.position for call in session.calls_after(words.turn, 6)}
    later = (each for each in session.attempts if each.position in following)
    tried = [each for each in later if match["new"] in {command.program for command in each.actions}]
    used = next((each for each in tried if each.verdict != "failed"), next(iter(tried), None))  # as it worked
    if not refused or used is None or refused[0].program == match["new"]:
        return []
    old = refused[0].program
    wording = _use_instead("corrections/program-replaced", match["new"], old)
    why = plain_line(words.text, 120)
    rationale = f'The user refused `{refused[0].head}`: "{why}"; `{used.actions[0].head}` was accepted.'
    evidence = [session.quote(words.turn, words.text), session.quote(used.turn, used.line)]
    return lesson(wording, rationale, evidence, words.event, 92, remedy=used.turn)


def _use_instead(rule_id: str, new: str, old: str) -> Wording:
    return Wording(
        rule_id,
        f"Use {new} instead of {old}",
        f"Use `{new}` instead of `{old}`.",
        f"About to use `{old}` in a project of this user.",
        (tag(new, "style"), tag(old, "style"), "user-preference"),
    )


def _instead(session: MinedSession, words: UserWords, sentence: str) -> list[Lesson]:
    for pattern in _INSTEAD:
        match = pattern.search(sentence)
        if match is None:
            continue
        if _ONLY_FOR.match(sentence[match.end() :]):
            return []  # "… for agent deployment": elsewhere the other one may stay
        if names_own_things(sentence[match.end() :]) and not is_standing(sentence):
            return []  # "… for the second button"
        new, old = _clean(match["new"]), _clean(match["old"])
        taken_up = _adopted(session, words, new) if _means_something(session, words, sentence, new, old) else None
        if taken_up is None:
            return []
        wording = _instead_wording(new, old, _kind_of_code(session, taken_up))
        if wording is None or not (words.rejected or words.is_after_claim):
            return []
        rationale = f'The user asked for it: "{with_reason(words, sentence)}", and the agent went on that way.'
        quotes = [session.quote(words.turn, sentence)]
        return lesson(wording, rationale, quotes, words.event, 88, remedy=taken_up.turn)
    return []


def _instead_wording(new: str, old: str, kind: str) -> Wording | None:
    """Names of tools and identifiers as code, so that the same request has the same words however it was said."""
    if _is_name(new) and _is_name(old):
        return _use_instead("corrections/use-instead", new.strip("`"), old.strip("`"))
    title = next(
        (each for each in (f"Use {new} instead of {old}", f"Prefer {new} to {old}") if has_length_of_title(each)), None
    )
    tags = tuple(dict.fromkeys((tag(new.split()[-1], "style"), tag(old.split()[-1], "style"), "user-preference")))
    trigger = f"Writing `{kind}` files, and about to use {old}." if kind else f"About to use {old}."
    return Wording("corrections/use-instead", title, f"Use {new} instead of {old}.", trigger, tags) if title else None


def _kind_of_code(session: MinedSession, taken_up: Call) -> str:
    """The suffix of the first file of code that was written from then on; empty without one."""
    for call in (taken_up, *session.calls_after(taken_up.turn, 16)):
        suffix = re.search(r"\.\w{1,8}$", call.path() or "") if is_edit(call) else None
        if suffix and not is_prose(call.path() or ""):
            return suffix[0]
    return ""


def _means_something(session: MinedSession, words: UserWords, sentence: str, new: str, old: str) -> bool:
    both = f"{new} {old}"
    if not new or not old or new.lower() == old.lower() or _VAGUE.search(both) or _ONE_OFF.search(sentence):
        return False
    if any("/" in name and "@" not in name for name in (new, old)):
        return False  # a place in this repository, where another may be right the next time
    if old.strip("`").split(" ")[0] in _CHANGERS and not is_standing(sentence):
        return False  # one change of certain files is called off, not a program for ever
    if ON_SCREEN.search(both) and not is_standing(sentence):
        return False
    is_request = (
        words.rejected is None and bool(_POLITE.match(sentence)) and not all(_is_name(word) for word in (new, old))
    )
    is_request |= _OWN_QUESTION.search(sentence) is not None
    is_own = session.defines([name for name in (new, old) if name.isidentifier()])
    return not is_request and not is_own and generalize(both, session.trajectory) == both


def _is_name(words: str) -> bool:
    """A program, a package, an identifier; not a description (`a switch case`)."""
    return bool(_NAMED.search(words)) or words.lower().split(" ", 1)[0] in _KNOWN_NAMES | SHOWING | _CHANGERS


def _adopted(session: MinedSession, words: UserWords, new: str) -> Call | None:
    """The first of the agent's next calls that mentions it."""
    key = max(re.findall(r"\w+", new.lower()), key=len, default="")
    after = [call for call in session.calls_after(words.turn, 16) if call.turn <= words.turn + 16]
    if not key or not any(call.name.lower() in EDIT_TOOLS or call.command() is not None for call in after):
        return None
    return next((call for call in after if call.mark is None and key in call.raw_arguments.lower()), None)


def _clean(words: str) -> str:
    text = plain_line(words, 60).strip(" `'\".,")
    return re.sub(r"\s+(?:please|instead|now|then)$", "", text)
