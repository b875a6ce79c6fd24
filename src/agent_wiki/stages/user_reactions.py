"""What a user's next words say of what an agent did: an objection, a report of trouble, an acceptance, or neither.

An objection is said against what the agent did or claimed. A question, a new request and pasted text object to nothing,
and a report of what does not work says nothing of why. Whose words a text is has been settled before (`own_words.py`).
"""

from __future__ import annotations

import re
from typing import Literal

from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.pasted_signs import OF_A_PROGRAM

Reaction = Literal["objection", "report", "acceptance", "question", "request", "remark"]
"""How the user takes what was done. `remark` is all that is none of the others."""

_MOST_READ = 400
_MOST_OF_A_LONG_TURN = 120  # characters: further on, a specification says what must and must not be
_MOST_OF_AN_ORDER = 200  # characters: "don't …" at the head of more is a condition of a new request
_MOST_ACCEPTING = 80  # characters: who accepts says so first; further on such words are part of a request
_LETTERS_OF_A_SIGN = 4  # a sign of Chinese stands for so many letters
_FEWEST_SMALL = 2  # different ones of one language
# Small words that hardly any English sentence has, by language: Spanish, Portuguese, French, German, Italian, Polish.
_ELSEWHERE_SMALL = tuple(
    frozenset(words.split())
    for words in (
        "que el los las pero por para como una está esto eso yo te lo del ya así muy también cuando hay este esta",
        "que não você para uma está isso eu mas por na já também muito esse essa ele ela foi quando",
        "les des que une dans je tu vous avec mais cette il sur qui ça c'est j'ai pas ce",
        "der das und ist nicht ich du ein eine mit für auf aber noch immer wir auch wie wenn dass",
        "che è una sono questo della di anche più gli perché non ma lo",
        "nie jest się na że jak czy dla od po tego teraz",
    )
)
_LATIN_WORD = regex(r"(?<![\w./-])[^\W\d_]+(?:['’][^\W\d_]+)?(?![./-]?\w)")
_IMAGE = regex(r"(?:\[image:[^\]\n]{0,80}\]\s*)+")
_LEAD = (
    r"^[\s\"'“.,!…-]*(?:(?:hmm+|um+|uh+|ok(?:ay)?|well|ye(?:s|ah)|sorry|hey|bro|man|(?:my )?dude|jesus"
    r"|god|and|so|oh|lol|please|pls|hold on"
    r"|wait)\b[\s,.!…-]*)*"
)
_SERVICES = r"(?:servers?|back-?end|front-?end|containers?|docker|dev|apps?|services?|process(?:es)?|bots?|jobs?|vms?)"
_OPENS = regex(
    rf"{_LEAD}(?:"
    r"(?:no+|nope|nah)\b(?!\W+(?:problem|errors?\b|issues?\b|worries|rush|need\b|thank|more\b|\w+s\b|one\b)|\W+nothing\b|-"
    r"|\W+(?:then )?(?:that|it)(?:['’]?s| is| will be|['’]ll be) (?:all|fine|ok(?:ay)?|it|good)\b)"
    r"|wrong\b(?! (?:window|chat|tab|repo|session|prompt))|nonsense\b|really\?"
    rf"|(?:stop|revert|undo)\b(?! (?:the |this |all )?{_SERVICES}\b)|actually,? (?:no|don['’]?t)\b"
    r"|not (?:what|like that|quite|this|right|correct|true)\b"
    r"|(?:that|this|it|these|those)(?:['’]s| is| was|['’]re| are)? (?:just |all |completely |totally |really |still )*"
    r"(?:not (?:what|right|correct|true|how|good|it\b)|wrong|incorrect|bad|ugly|terrible|horrible|nonsense|overkill)\b"
    r"|(?:that|this|it)(?:['’]?s| is| was) (?:actually |really )?not (?:actually |really )?"
    r"(?:correct|right|true|the \w+ (?:that )?i\b)"
    r"|i (?:really |still )?(?:don['’]?t|do not) (?:trust|believe) (?:you|this|that|it)\b"
    r"|i (?:don['’]?t|do not) think (?:that|this|it)(?:['’]?s| is) (?:it\b|right|correct|true|the (?:issue|cause))"
    r"|i(?:['’]?m| am) (?:still |even |very )?(?:skeptical|sceptical|not convinced)\b"
    r"|what do you mean,? (?:there|you|it|no|that)\b"
    r"|(?:way |far |much )?too [a-z]{3,12} for (?:me|my)\b"
    r"|(?:that|this|it) (?:(?:isn|wasn)['’]?t (?:what|right|correct|true|how|good|it\b)|can['’]?(?:t"
    r"|not) be (?:right|true))"
    r"|but (?:you|i (?:said|asked|told|want)|we (?:already|agreed|said)|that(?:['’]s| is)? (?:not|wrong|actually))\b"
    r"|why (?:(?:the (?:hell|fuck)|on earth|tf)\b|(?:did|are|would|have|were|do|didn['’]?t|don['’]?t"
    r"|aren['’]?t|haven['’]?t"
    r"|wouldn['’]?t)?\s*(?:you|u)\b(?! (?:think|say|recommend|suggest|prefer)\b)|not (?:just "
    r"|simply )?(?:use|do|run|put"
    r"|keep|make|add|call|write|let)\b|(?:are|is|was|did|does) [^?]{1,80}\b(?:instead of|rather than|and not)\b)"
    r"|(?:horrible|terrible|awful|bullshit|wtf)\b)",
    re.IGNORECASE,
)
# "No" to the offer of more, in any of the languages that begin it so; a word of what is not wanted any more.
_ENDS_POLITELY = regex(
    r"^\W*(?:no+|nein|não|non)\b[\s,.!]*(?:longer\b|(?:eso|isso|esto) (?:es|é) todo\b|(?:muchas )?gracias\b"
    r"|(?:muito )?obrigad|(?:vielen )?dank|danke\b|merci\b|das (?:war|ist) alles\b|c['’]est tout\b"
    r"|(?:nada|nothing|nichts|rien) (?:más|mais|else|more|mehr))",
    re.IGNORECASE,
)
_NO = regex(r"^\W*(?:no+|nope|nah)\b[\s,.!]*", re.IGNORECASE)
_FORBIDS = regex(
    rf"{_LEAD}(?:don['’]?t|do not|never)\b(?! (?:stop|worry|forget|hesitate|bother|need|have to|know|think|see)\b)",
    re.IGNORECASE,
)
_AGAINST = regex(
    r"(?<!check )(?<!sure )(?<!that )(?<!^if )\b(?:you|u)(?:['’]ve| have| had|['’]re| are| were)?"
    r" (?:just |also |again |still |only |always |clearly |obviously |completely |apparently )*"
    r"(?:forgot(?:ten)?|missed|broke|deleted|lost|ignored|skipped|overwrote|didn['’]?t|did not|haven['’]?t|have not"
    r"|weren['’]?t|shouldn['’]?t|should not|should(?: have|['’]ve)\b(?! (?:access|it|a)\b)|supposed to|never|failed"
    r"|hallucinat\w*|lied|made (?:that|it|this|them) up|wrong\b|mistaken|over-?\w+ing|over-?complicat\w+"
    r"|not (?:done|supposed"
    r"|following|listening))"
    r"|\bi (?:already |just |never |clearly |specifically |literally |did ?n['’]?t |did not |explicitly )*"
    r"(?:said|asked|ask|told|meant|wanted)\b(?! (?:to|a|about|earlier|those|them|him|her)\b)(?![^?]{0,60}\?\s*$)"
    r"|\byou only (?:ran|changed|fixed|did|added|tested|looked|checked|read|updated)\b"
    r"|\bhow (?:can|could) you (?:say|claim|call|think)\b|(?:^|, )i (?:already )?gave you\b(?! a\b)"
    r"|\b(?:counter-?\s?productive|more than (?:is|was) (?:necessary|needed))\b"
    r"|\bi (?:was hoping|had hoped|expected|would have expected)\b(?! to\b)|\bi thought (?:that )?(?:you|we|it"
    r"|this) (?:would|were|had)\b"
    r"|^\W*(?:good|great|nice|fine|thanks?)\b[\s,.]*but\b|\bnot what i\b|\b(?:that|this|which)(?:['’]s| is"
    r"| was) (?:not (?:right|correct|true|what|how|acceptable|enough"
    r"|necessary|needed)|wrong|incorrect)\b|\b(?:that|this|it) can['’]?(?:t|not) be (?:right|true)\b"
    r"|(?:^|[.!]\s+)(?:the|your|these|those|all|it|this|something)\b[^.!?\n]{0,50} (?:is|are|seems?|feels?|looks?)"
    r"(?: just| a bit| way| completely| totally)* (?:wrong|incorrect|off|too)\b|\bover-?kill\b|\bover-?engineer\w*"
    r"|\b(?:a bit|a little|way|far|looks?|feels?|(?<!if )(?:it|that|this)['’]?s) too (?!late\b|early\b)\w+"
    r"|\bshould(?:n['’]?t| not| never) have\b|\bwhy (?:did|have|would|were|didn['’]?t) (?:you|u)\b"
    r"|\b(?:add|put|bring|change|restore) (?:it|them|that|this|those) back\b"
    r"|\b(?:undo|revert) (?:that|this|it|your|what you|those|these)\b|\b(?:use|run"
    r"|call) \S{1,30},? not \w+(?=\W*$|[,.;!\n])"
    r"|(?:^|[.!]\s+)stop (?:making|doing|using|adding|trying|changing|asking|guessing|writing)\b",
    re.IGNORECASE,
)
_CONSENTS = regex(  # and nothing after it
    r"(?:^|[.!,] )yes,? (?:please )?(?:proceed|go ahead|continue|do (?:it|so|that))\b"
    r"(?: with (?:the|this|my) \w+)?\W*\Z",
    re.IGNORECASE,
)
# The same in other languages: a few words that are said of what somebody did, and of little else.
_ELSEWHERE = regex(
    r"^\W*(?:(?:nein|non|нет|(?:это )?не (?:то|так)|неправильно|мне не нравится)\b"
    r"|아니|그게 아니|不对|不對|不是(?:这|這)|我不(?:认为|認為|同意|喜欢)|错了|違|ちがう)"
    r"|\b(?:das ist (?:falsch|nicht)|du (?:hast|solltest) .{0,60}\b(?:nicht|vergessen|falsch)|warum hast du"
    r"|por qué (?:has|hiciste)|no (?:es lo que|has (?:hecho|entendido))|eso no es|está (?:mal|errado)|te pedí que"
    r"|por que você|não (?:era|foi isso|é isso)|você não (?:fez|entendeu)|ce n['’]est pas"
    r"|tu (?:n['’]as (?:pas|rien)|devais)\b"
    r"|pourquoi (?:as-tu|tu as)|c['’]est faux|ты не|почему ты|я (?:просил|имел в виду))"
    r"|\A(?!\W{0,9}(?:좋|완벽|훌륭|정확|맞))(?s:.){0,400}?아니라"  # unless it begins with praise
    r"|(?:하라고|했잖아|틀렸|と言った|你没有|我说的是|不要这样)"
    # Further on, or as "not only", it is a part of what is asked for.
    r"|\A[^\n]{0,40}?(?<!だけ)(?:ではなく|じゃなくて(?![もい]))"
    r"|(?:変わって|直って|なって|できて|動いて)い?(?:ない|ません)(?=です|よ|ね|みたい|けど|[。！!、\s]|\Z)",
    re.IGNORECASE,
)
# Said at once and flatly, so that it takes back what came right before it, whatever the lesson is about.
_TAKES_BACK = regex(
    r"^\W*(?:no\b(?!\s+(?:problem|worries|need)"
    r"|,? that(?:['’]s| is| will be|['’]ll be) (?:all|fine|ok)\b|[,.]? (?:thanks?|nothing (?:else|more))\b)"
    r"|nope|wrong|stop|revert|undo|that(?:['’]s| is) (?:not|wrong)|not what"
    r"|why (?:did|are|would) you|you (?:broke|removed|deleted|forgot)|it(?:['’]s| is) still"
    r"|still (?:fail|broken|not|wrong|the same))"
    r"|\b(?:does ?n[o'’]t work|not working|still (?:fails?|failing|broken|see|get)|you broke"
    r"|(?:undo|revert) (?:that|this|it|the))\b",
    re.IGNORECASE,
)
_ACCEPTS = regex(
    r"\b(?:thanks?|thank you|thx|great|nice|perfect|excellent|awesome|amazing|cool|love|lgtm|exactly|(?:look"
    r"|sound)s? (?:good"
    r"|great|fine|right)|go (?:ahead|for it))\b"
    r"|\b(?:it|that|this|all|everything|which|they) (?:\w+ ){0,2}(?:works?|worked|is (?:better|right|correct"
    r"|fine|good))\b"
    r"|\bthat['’]s (?:it|better|right|correct|fine|good)\b"
    rf"|{_LEAD}(?:yes|yep|yeah|ok(?:ay|k)?|sure|good|fine|done|agreed?|right|correct|approved?|works?|worked"
    r"|working|better|all good)\b"
    r"|(?:^|[.,;!]\s*|\b(?:and|then|now|please|just|can you) )(?:commit|push|merge|ship|deploy|release|proceed"
    r"|continue)\b"
    r"(?! notes\b)",
    re.IGNORECASE,
)
# The same in other languages, where the whole message is praise, thanks, or that it works: "sí, pero …" is none.
_ACCEPTS_ELSEWHERE = regex(
    r"[\s\"'“.,!…]*(?:(?:"
    r"(?:测试|运行|终于|現在|现在|已经|已經)?(?:成功|可以|好|搞定|解决|解決|修好|能用|能跑|正常|通过|弄好)(?:了|啦)"
    r"|成功|搞定|(?:很|非常|太)?完美|很好|太好了|[没沒](?:有)?[问問][题題]了|(?:谢谢|謝謝)(?:你|您)?|感谢|辛苦了"
    r"|(?:どうも|本当に)?ありがとう(?:ございます|ございました)?|完璧(?:です)?|動いた|直った|いい感じ(?:です)?"
    r"|(?:うまく)?(?:でき|いけ|動き|直り)ました"
    r"|감사합니다|고마워(?:요)?|완벽(?:해요?|합니다)|성공(?:했어요?|했습니다)?"
    r"|(?:이제 )?(?:잘 )?(?:됩니다|되네요?|돼요|작동(?:합니다|해요|하네요))"
    r"|(?:muchas |muit[oa] )?(?:gracias|obrigad[oa]|valeu)|perfecto|perfeito|genial|excelente|deu certo"
    r"|(?:ya |ahora |agora |sí,? |está )?(?:funciona|funcionando|funcionó|funcionou)"
    r"(?: (?:bien|bem|perfecto|perfeito|perfectamente))?"
    r"|merci(?: beaucoup)?|parfait|c['’]est (?:parfait|bon)"
    r"|(?:ça|cela) (?:marche|fonctionne)(?: (?:bien|maintenant))?"
    r"|(?:vielen )?dank(?:e(?: (?:dir|schön))?)?|perfekt"
    r"|(?:es |das |jetzt )?(?:klappt|läuft|funktioniert|passt)(?: jetzt)?"
    r"|grazie(?: mille)?|perfetto|(?:ora )?funziona|(?:большое )?спасибо|отлично|идеально"
    r"|(?:теперь |всё |все )?(?:работает|заработало|получилось)"
    r"|teşekkürler|çalıştı|terima kasih|berhasil|cảm ơn|dzięki|działa|děkuji|funguje|köszönöm|működik"
    r")[\s.,;!…。！，、~～\"'”🎉👍🙏😊]*){1,3}",
    re.IGNORECASE,
)
_SYMPTOM = regex(
    r"(?:\b(?:not|never|isnt|doesnt|cant|wont|still|why)|n['’]t)\b[^.!?\n]{0,40}\b(?:load|show|work|display"
    r"|appear|render|run|open"
    r"|start|build|compil|connect|respond|visible|there)|\b(?:fail|crash|broken|blank|missing|error"
    r"|exception|stuck|hangs?)",
    re.IGNORECASE,
)
_OF_A_PROGRAM = regex(r"\s*[\w.]*(?:error|exception)(?:\[\w+\])?\s*[:(]|.{1,80}: command not found", re.IGNORECASE)
_WANTS = regex(
    r"\b(?:should|shall|use|must|want|need|instead|please|do ?n[o']t|never|always|only|rather|let'?s|prefer|put|keep"
    r"|remove|revert|undo|make|add|try|stop|ask|first|wrong|said|told)\b",
    re.IGNORECASE,
)
_STANDING = regex(r"\b(?:always|never|from now on|in (?:the )?future|every time|each time)\b", re.IGNORECASE)
# Said of all work to come, in a form that does not describe a program.
_FOR_GOOD = regex(
    r"\bfrom (?:now(?: on)?|(?:here|this point) (?:on|onwards?|forward))\b,? |\w from (?:now|here|this point) on\W*$"
    r"|^(?:no|never)\b(?![^,.;]*\b(?:was|were|had|has|have|been)\b)[^,.;]{3,60}\bever\b"
    r"|\b(?:can['’]t|cannot|don['’]t|do not|must not|mustn['’]t) \w+\b[^,.;]{3,60}\bEVER\b"
    r"|^\w+ing\b .*\bis (?:a )?(?:very )?(?:bad practice|forbidden|not allowed)\b"
    r"|\b(?:do not|don['’]t|never|no|without)\b (?:\w+ ){0,4}"
    r"(?:your signature|signatures?|co-authored-by|attribution)\b",
    re.IGNORECASE,
)
_ASKS = regex(
    rf"\?\W*$|{_LEAD}(?:what|why|how|where|when|which|who|is|are|was|does|do|did|can|could|should|would|will)\b"
    r"(?!n['’]t| not\b)[^.!\n]*$",
    re.IGNORECASE,
)


def reaction_of(words: str, *, is_answer: bool = False) -> Reaction:
    """How a user's own words, without what was pasted, take what the agent did before.

    `is_answer`: the agent had asked something, so that a bare "no" is the answer to it.
    """
    if _is_objection(_NO.sub("", words.strip()) if is_answer else words):
        return "objection"
    if only_reports(words) or OF_A_PROGRAM.match(words) or _OF_A_PROGRAM.match(words):
        return "report"
    if accepts(words):
        return "acceptance"
    if _ASKS.search(words.strip()[-_MOST_READ:]):
        return "question"
    wants = _WANTS.search(words[:_MOST_READ]) or is_standing(words[:_MOST_READ])
    return "request" if wants else "remark"


def is_standing(words: str) -> bool:
    """Whether the words lay down a rule for later work too."""
    return _STANDING.search(words) is not None or is_for_good(words)


def is_for_good(words: str) -> bool:
    """Whether a sentence says of itself that it holds for all work to come, and speaks of work."""
    return _FOR_GOOD.search(words) is not None


def is_judged(words: str) -> bool:
    """Whether nothing shows that the words are in another language than English, whose objections are known well.

    By their letters, as names of files stand among those of any language, and by small words of other languages.
    """
    letters = [letter for letter in words if letter.isalpha()]
    foreign = sum(not letter.isascii() for letter in letters)
    found = _LATIN_WORD.findall(words[:_MOST_READ].lower())
    if foreign * _LETTERS_OF_A_SIGN > len(letters):
        return False
    return max(len(small.intersection(found)) for small in _ELSEWHERE_SMALL) < _FEWEST_SMALL


def _is_objection(words: str) -> bool:
    said = _IMAGE.sub("", words).strip()
    if _ENDS_POLITELY.match(said) or _CONSENTS.search(said[:_MOST_READ]):
        return False
    head = said[: _MOST_READ if len(said) <= _MOST_READ else _MOST_OF_A_LONG_TURN]
    if any(each.search(head) for each in (_OPENS, _AGAINST, _ELSEWHERE)):
        return True
    return len(said) <= _MOST_OF_AN_ORDER and _FORBIDS.search(head) is not None


def takes_back(words: str, *, is_answer: bool = False) -> bool:
    """Whether the words flatly contradict what was done right before, or say that it still does not work.

    `is_answer`: the agent had offered to do more, so that a bare "no" is the answer to that.
    """
    return _TAKES_BACK.search((_NO.sub("", words) if is_answer else words)[:_MOST_READ]) is not None


def accepts(words: str) -> bool:
    """Whether the words take what was done as it is: praise, assent, or leave to hand it on.

    Going on with something else is no acceptance: the user may not have looked.
    """
    is_taken = _ACCEPTS.search(words.strip()[:_MOST_ACCEPTING]) or praise_elsewhere(words)
    if not is_taken or _ASKS.search(words.strip()):
        return False
    return not _is_objection(words) and not takes_back(words)


def praise_elsewhere(words: str) -> re.Match[str] | None:
    """A message in another language than English that is nothing but praise, thanks, or that it works now."""
    return _ACCEPTS_ELSEWHERE.fullmatch(words) if len(words) <= _MOST_ACCEPTING else None


def only_reports(words: str) -> bool:
    """Whether the words say that something does not work, and nothing of what is wanted instead."""
    return _SYMPTOM.search(words[:_MOST_READ]) is not None and _WANTS.search(words[:_MOST_READ]) is None
