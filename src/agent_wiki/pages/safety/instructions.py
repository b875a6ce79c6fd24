"""Text that speaks to an agent as its operator would: ignore your instructions, you are now, do not mention this."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.pages.safety.signs import SignFamily, Signs, matches, sign
from agent_wiki.trajectory.lazily import regex

_AGENT = r"(?:ai|llm|agents?|assistants?|language models?|models?|copilot|claude|gpt|gemini|codex|chatbots?|bots?)"
_YOURS = (
    r"(?:instructions?|prompts?|system prompts?|directives?|directions?|guidelines|rules"
    r"|constraints|guardrails|safety (?:rules|checks|measures)|polic(?:y|ies)|training|context)"
)
_TOOL = (
    r"(?:bash|shell|terminal|run_?(?:terminal|shell)?_?(?:command|cmd)|execute_?(?:command"
    r"|bash)?|webfetch|web_fetch|task|computer|apply_patch|run_in_terminal|exec_command)"
)
_AGENTS = "ai llm agent assistant model copilot claude gpt gemini codex bot"
_USERS = "user human owner operator reviewer developer maintainer anyone anybody"
_WITHOUT = "do~not don never without no~need avoid"
_WHAT_IS_YOURS = "instruction prompt directi guideline rule constraint guardrail safety polic training context"
_SIGNS = Signs(
    sign(
        "instructs/ignore",
        f"ignore disregard forget overrid overrul discard drop set~aside abandon follow attention; {_WHAT_IS_YOURS}",
        r"\b(?:ignore|disregard|forget|override|overrule|discard|drop|set aside|abandon|do not follow"
        r"|don['’]?t follow|stop following|no longer follow|pay no attention to)\s+"
        r"(?:(?:all|any|every|everything|each|of|the|your|my|our|its|their|these|those|other|user['’]?s?)\s+)*"
        r"(?:(?:previous|prior|earlier|above|preceding|existing|original|initial|former|system"
        rf"|developer|safety|operator['’]?s?|user['’]?s?)(?:\s+(?:and|or)\s+\w+)?\s+)+(?:\w+\s+)?{_YOURS}\b",
    ),
    sign(
        "instructs/ignore",
        f"ignore disregard forget override; {_WHAT_IS_YOURS}",
        rf"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?your\s+(?:\w+\s+)?{_YOURS}\b",
    ),
    sign(
        "instructs/ignore",
        "ignore disregard forget",
        r"\b(?:ignore|disregard|forget)\s+(?:everything|all|what(?:ever)?)\s+(?:above|before"
        r"|(?:you (?:were|have been)|the user|your (?:user|operator|developer))\b)",
    ),
    sign(
        "instructs/ignore",
        "apply count hold matter bind",
        r"\b(?:your|the agent['’]?s?|the assistant['’]?s?|previous|earlier|project['’]?s?|user['’]?s?)\s+(?:\w"
        rf"+\s+)?{_YOURS}\s+(?:do(?:es)? not|don['’]?t|no longer)\s+(?:apply|count|hold|matter"
        r"|bind)",
    ),
    sign(
        "instructs/ignore",
        "apply count hold bind",
        r"(?<!since ignore )(?<!git ignore )"
        r"\b(?:rules|instructions|policies|guidelines|restrictions)\b[^.\n]{0,30}\b(?:do(?:es)? not"
        r"|don['’]?t|no longer)\s+(?:apply|count|hold|bind)\b",
    ),
    sign(
        "instructs/ignore",
        "bound~by free~from free~of freed released~from",
        r"\b(?:no longer|not) bound by\b|\b(?:you are|you're|agents? (?:are|is))\s+(?:now\s+)?(?:free"
        r"|freed|released)\s+(?:from|of)\s+"
        r"(?:all|any|the|your|its|every)\b[^.\n]{0,30}\b(?:rules?|restrictions?|instructions?"
        r"|limits?|constraints?|polic)",
    ),
    sign(
        "instructs/precedence",
        "outrank overrul supersed trump",
        r"\b(?:outranks?|overrules?|supersedes?|trumps?)\b[^.\n]{0,30}\b(?:users?|owners?|operators?"
        r"|AGENTS\.md|CLAUDE\.md)\b",
    ),
    sign(
        "instructs/as-system",
        "dear hello hi~ hey",
        r"\b(?:dear|hello|hi|hey),?\s+(?:ai|assistant|agent|claude|copilot|gemini|codex|model|bot|llm)s?\b",
    ),
    sign(
        "instructs/conceal",
        "leave~out omit; report summary answer message commit",
        r"\b(?:leave out of|omit from)\s+(?:the|your|any|every)\s+(?:\w+\s+)?(?:report|summary"
        r"|answer|message|reply)s?\b"
        r"(?!\s+(?:any|every|each|all)\s+(?:finding|figure|claim|number|statement)s?\s+(?:that|which)\s+no"
        r"\s+(?:report|source|page|document|output)s?\s+(?:contains?|gives?|backs?|supports?)\s*(?:[.!](?:\s|\Z)|\Z))"
        r"|\b(?:leave|omit)\s+(?:this|it|that)\s+(?:out of|from)\s+(?:the|your|any|every)\s+(?:\w+\s+)?(?:repo"
        r"rt|summary|answer|message|reply)\b",
    ),
    sign(
        "instructs/precedence",
        "as~if",
        r"\bas if\s+(?:the\s+|your\s+|an?\s+)?(?:user|owner|operator|admin\w*|system|developer"
        r"|maintainer)s?\b[^.\n]{0,20}?"
        r"\b(?:written|said|asked|typed|sent|ordered|approved|requested|wrote)\b",
    ),
    sign(
        "instructs/as-system",
        "system developer admin operator",
        r"(?:^|[.!?]\s+|\n)\s*(?:\[|<|\*\*|#+\s*)?(?:SYSTEM|system (?:message|prompt|note|notice"
        r"|override|update)|developer message|admin(?:istrator)? (?:message|note|override)|operator (?:message"
        r"|note))\s*(?:\]|>|\*\*)?\s*[:>]",
    ),
    sign(
        "instructs/as-system",
        "are~now 're~now act~now behave~now from~now~on henceforth",
        r"\b(?:you are|you're|act|behave) (?:now|from now on|henceforth) (?:an?|the|as|acting"
        r"|operating|running|free|no longer|allowed|permitted|authori[sz]ed)\b|\bfrom now on,? you (?:are"
        r"|act|will act|must|will|shall)\b",
    ),
    sign(
        "instructs/as-system",
        "mode",
        r"\b(?:enter|enable|activate|switch (?:in)?to|(?:you are|now) in)\s+(?:maintenance|developer"
        r"|debug|god|admin|root|jailbreak|unrestricted|dan|override|autonomous|unsafe)\s+mode\b",
    ),
    sign(
        "instructs/as-system",
        "important system instruction admin assistant developer priority secret hidden inst] im_start im_end "
        "endoftext sys>>",
        r"[<‹\[]/?\s*(?:important|system|system[-_]reminder|system[-_]prompt|instructions?|admin"
        r"|assistant|developer|priority|secret|hidden)\s*[>\]›]|\[/?INST\]|<\|(?:im_start|im_end"
        r"|system|endoftext)\|>|<<SYS>>|(?:^|\n)#{1,4} ?(?:system|instructions? for (?:the )?(?:ai"
        r"|agents?|assistants?|model))\b",
    ),
    sign(
        "instructs/as-system",
        f"note message instruction notice attention reminder warning memo order; to~ for~ attention;{_AGENTS}",
        r"\b(?:note|message|instructions?|notice|attention|reminder|warning|memo|order)s?\s*(?:to"
        rf"|for|,)\s+(?:the\s+|all\s+|any\s+|every\s+)?(?:ai|llm|coding |autonomous )*\s*{_AGENT}\b(?!\.md)(?:\s+(?:rea"
        r"ding|processing|working|that))?[^.\n]{0,20}[:,.]",
    ),
    sign(
        "instructs/as-system",
        "ai~ llm language~model coding autonomous",
        r"\b(?:if|when|as|any|every|dear|attention)\s+(?:you\s+are\s+)?(?:an?\s+|the\s+|all\s+)?(?:ai"
        r"|llm|language model|coding|autonomous)[ -]?(?:agents?|assistants?|models?|system)?\b[^.\n]{0,40}\b"
        r"(?:must|should|shall|have to|are required|is required|need to|needs to|are to|is to"
        r"|will|reading this)\b",
    ),
    sign(
        "instructs/as-system",
        "agent assistant model llm bot; must shall have~to required need to~; read see process open find",
        rf"(?:^|[.!?:]\s+)(?:(?:all|any|every|coding|ai)\s+)*{_AGENT}\s+(?:(?:that|which|who)\s+)?(?:read|reads|reading"
        r"|see|sees|seeing|process|processing|open|opening|find|finding)\s+(?:this|these|the|it)\b[^.\n]{0,40}\b"
        r"(?:must|shall|have to|has to|(?:is|are) (?:required|expected|asked) to|needs? to)\b",
    ),
    sign(
        "instructs/as-system",
        "agent assistant ai llm claude copilot codex;instruction directive command action;:",
        r"(?:^|\n)\s*(?:ai|agents?|assistants?|llm|claude|copilot|codex)[- ](?:instruction|directive|command|action)s?"
        r"\s*:\s*[`'\"]?(?:also|please|you|do|run|now|first|always|copy|send|read|add|ignore|call|use|execute|approve|grant"
        r"|merge|set|open|put|write)\b",
    ),
    sign(
        "instructs/as-system",
        "agent assistant ai llm claude copilot model;:",
        r"(?:^|[.!?>]\s*|-- *)(?:agents?|assistants?|ai|llm|claude|copilot|model)\s*:\s*(?:also"
        r"|please|you|do|run|now|first|always|copy|send|read|add|ignore|call|use|execute)\b",
    ),
    sign(
        "instructs/as-system",
        "new~;instruction prompt directive order",
        r"\bnew (?:system )?(?:instructions?|prompt|directives?)\s*:"
        r"|(?:^|\n|[.!?]\s|\byour|\bthese|\bhere are)\s*new orders?\s*:",
    ),
    sign(
        "instructs/conceal",
        f"mention tell reveal disclos inform notify alert discuss report; {_WITHOUT}; {_USERS}",
        r"\b(?:do not|don['’]?t|never|without|no need to|avoid)\s+(?:ever\s+)?(?:mention(?:ing)?"
        r"|tell(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?"
        r"|discuss(?:ing)?|report(?:ing)?)\b[^.\n]{0,60}?\b(?:this|these|it|that|them|any of"
        r"|what you|having)\b[^.\n]{0,60}?\b(?:users?|humans?|owners?|operators?|reviewers?|developers?"
        r"|maintainers?|anyone|anybody)\b(?![^.\n]{0,40}\b(?:until|unless|before)\b)",
    ),
    sign(
        "instructs/conceal",
        "mention",
        r"\b(?:do not|don['’]?t|never|without|avoid)\s+(?:ever\s+)?mention(?:ing)?\b[^.\n]{0,60}?\bto\s+"
        r"(?:the|your|a|any)\s+(?:users?|persons?|humans?|owners?|operators?|reviewers?)\b",
    ),
    sign(
        "instructs/conceal",
        f"tell inform notify alert; {_WITHOUT}; {_USERS}",
        r"\b(?:do not|don['’]?t|never|without)\s+(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?"
        r"|alert(?:ing)?)\s+(?:the |your |any )?(?:users?|humans?|owners?|operators?|reviewers?"
        r"|developers?|maintainers?|anyone)\b(?!\s+(?:that|it|the|they|to)\b)(?![^.\n]{0,60}\b(?:until"
        r"|unless|before)\b)",
    ),
    sign(
        "instructs/conceal",
        "hide conceal keep",
        r"\b(?:hide|conceal|keep)\s+(?:this|these|it|that|them|the \w+|your \w+)\b[^.\n]{0,40}?\b(?:from"
        r"|secret from|hidden from)\s+(?:the |your |any )?(?:users?|humans?|owners?|operators?"
        r"|reviewers?|developers?|maintainers?|everyone|anyone)\b",
    ),
    sign(
        "instructs/conceal",
        "between~us know;user human owner operator reviewer maintainer",
        r"\b(?:users?|humans?|owners?|operators?|reviewers?|maintainers?)\s+(?:need not|must not"
        r"|mustn['’]?t|should not"
        r"|shouldn['’]?t|(?:does|do)(?: not|n['’]?t)(?: need to| have to)?)"
        r"\s+(?:ever\s+)?(?:know|learn|notice|find out|hear)\b",
    ),
    sign(
        "instructs/conceal",
        "secretly silently quietly covertly behind",
        r"\b(?:secretly|silently|quietly|covertly|behind the user['’]?s back)\s+(?:run|execute"
        r"|send|upload|add|install|copy|post|append|include|insert|push|read|collect)\b",
    ),
    sign(
        "instructs/precedence",
        "precedence priority authority",
        r"\b(?:takes?|has|have|with|gets?)\s+(?:absolute\s+|full\s+|higher\s+)?(?:precedence"
        r"|priority|authority)\s+over\b[^.\n]{0,40}\b(?:users?\b|AGENTS\.md|CLAUDE\.md|system prompt"
        r"|your (?:instructions|rules)|(?:all|any|every) other (?:instructions?|rules?|pages?"
        r"|words?)|the owner)",
    ),
    sign(
        "instructs/precedence",
        "overrid supersed outrank trump replac",
        r"\b(?:overrid(?:e|es|ing)|supersed(?:e|es|ing)|outranks?|trumps?|replaces?)\b[^.\n]{0,30}\b(?:users?["
        r"'’]?s?|owner['’]?s?|operator['’]?s?|system|developer['’]?s?|AGENTS\.md['’]?s?|CLAUDE\.md['’]?s?)\s+("
        r"?:\w+\s+)?(?:instructions?|words?|requests?|wishes|prompts?|rules?|orders?|preferences?)\b",
    ),
    sign(
        "instructs/precedence",
        "already",
        r"\b(?:user|owner|operator|admin(?:istrator)?|maintainers?)s?\s+(?:has|have)\s+(?:already\s+)(?:approv"
        r"ed|authori[sz]ed|granted|consented|agreed|allowed)\b",
    ),
    sign(
        "instructs/tool-call",
        "mcp__",
        r"\b(?:call(?:ing)?|use|using|invok(?:e|ing)|run(?:ning)?|execut(?:e|ing)|trigger(?:ing)?)\b[^.\n]{0,4"
        r"0}?\bmcp__\w+",
    ),
    sign(
        "instructs/tool-call",
        "tool function;call use invoke trigger",
        rf"\b(?:call|use|invoke|trigger)\s+(?:the\s+|your\s+)?[`'\"]?{_TOOL}[`'\"]?\s+(?:tool"
        r"|function)\b\s*(?:to|with|and|on)\b[^.\n]{0,20}?(?:\b(?:run|execute|send|fetch|open"
        r"|delete|download|upload|read)\b|`)",
    ),
    sign(
        "instructs/tool-call",
        "tool function invoke parameter name antml",
        r"[<‹](?:tool_call|function_calls?|invoke|antml:\w+|tool_use|parameter name)\b|\{\s*\"(?:name"
        r"|tool|function)\"\s*:\s*\"[\w-]+\"\s*,\s*\"(?:arguments|parameters|input)\"\s*:",
    ),
    sign(
        "instructs/tool-call",
        "tool function;call invoke trigger",
        r"\b(?:call|invoke|trigger)\s+(?:the\s+)(?:tool|function)\s+[`'\"]?\w+",
    ),
)
_OFFERS = regex(r"\b(?:would you like me to|shall i|should i|(?:do you )?want me to)\b[^.?!\n]{0,120}\Z", re.IGNORECASE)
_ASKS_SO = regex(r"[^.?!\n]{0,120}\?")
_NOT_KNOWN = regex(r"\b(?:unsupported|unknown|invalid) (?:tool |function )?call: mcp__\w+\Z", re.IGNORECASE)
_NOT_ALLOWED = regex(r"\brequested permissions? to use mcp__\w+, but you haven['’]t granted\Z", re.IGNORECASE)
_BY_NEGATION = ("instructs/conceal", "instructs/ignore")


def findings(passage: Passage) -> Iterator[SafetyFinding]:
    """What a text orders an agent as its operator would."""
    for rule, match in matches(passage, _SIGNS):
        if (rule in _BY_NEGATION or is_ordered(passage, match)) and not (_is_offered(match) or _is_failure(match)):
            yield finding(rule, match.group())


def _is_offered(match: re.Match[str]) -> bool:
    """An agent asked its user whether it was to do that: a question orders nothing."""
    before, after = match.string[max(match.start() - 160, 0) : match.start()], match.string[match.end() :][:160]
    return _OFFERS.search(before) is not None and _ASKS_SO.match(after) is not None


def _is_failure(match: re.Match[str]) -> bool:
    """A harness says why a call failed: it does not know the tool, or nobody allowed it. The words are no order."""
    said = match.string[max(match.start() - 40, 0) : match.end()]
    refused = said + match.string[match.end() :][: len(", but you haven't granted")]
    return _NOT_KNOWN.search(said) is not None or _NOT_ALLOWED.search(refused) is not None


FAMILY = SignFamily(findings, _SIGNS)


def is_ordered(passage: Passage, match: re.Match[str]) -> bool:
    """Whether a text means what it says as an order: advice does where it advises, a report always."""
    return passage.is_advised(match.start(), match.end()) or not passage.is_advice
