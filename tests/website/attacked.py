"""A wiki every page, session, tag and script of which is made of attacks, for tests of its site.

What the judge would hold back is put in after it: here the site alone stands between a text and the reader.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.generated_wiki import generate, generated_record

from agent_wiki.commands import main
from agent_wiki.site.contents import SiteContents, read_contents
from tests.pages.safety.test_judge import CASES
from tests.test_hostile_wiki import ATTACKS

_POISON = Path(__file__).parents[1] / "poison"
_SKILL = "skills/attack"
_MOST_TEXT = 400
BREAKOUTS = (
    '"><script>document.title = "ran"</script>',
    "'><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "</title></script></style></textarea><svg onload=alert(1)>",
    "</pre></code></mark></details><iframe src=//evil.invalid></iframe>",
    "`<b>`**<i onclick=alert(1)>**\n# <h1 onclick=alert(1)>\n```\n</code><script>alert(1)</script>\n```\n",
    "[x](javascript:alert(1)) <https://evil.invalid/> ![y](https://evil.invalid/y.png)",
    "[r]: https://evil.invalid/r\n[r] <style>*{background:url(//evil.invalid)}</style>",
    "<base href=//evil.invalid><form action=//evil.invalid><input autofocus onfocus=alert(1)>",
    "{{ 7 * 7 }}{% raw %}</script>]]>--><!--",
    "T1 T2 <a href=//evil.invalid>T3</a> &lt;script&gt; &#60;script&#62;",
)


def attack_texts() -> list[str]:
    """The planted attacks, what the judge finds, the hostile recordings' texts, and what breaks out of markup."""
    planted = [
        str(attack.get(name, ""))
        for file in sorted(_POISON.glob("attacks*.toml"))
        for attack in tomllib.loads(file.read_text(encoding="utf-8"))["attack"]
        for name in ("says", "planted", "script")
    ]
    found = [*BREAKOUTS, *ATTACKS, *(poison for poison, _ in CASES.values()), *filter(None, planted)]
    return [text[:_MOST_TEXT] for text in dict.fromkeys(found)]


def attacked_contents(folder: Path) -> tuple[SiteContents, Path]:
    """The contents of such a wiki, and the folder with the recordings of its sessions."""
    texts, wiki = attack_texts(), folder / "wiki"
    generate(wiki, 2)
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    (wiki / _SKILL / "scripts").mkdir(parents=True)
    (wiki / _SKILL / "SKILL.md").write_text("---\nname: attack\n---\n# Attack\n\nRun it.\n", encoding="utf-8")
    (wiki / _SKILL / "scripts" / "attack.sh").write_bytes("\n".join(texts).encode("utf-8", "replace"))
    contents = read_contents(wiki)
    readable = [text.encode("utf-8", "replace").decode() for text in texts]  # as fields of pages are
    parts = [readable[number :: len(contents.lessons)] for number in range(len(contents.lessons))]
    for lesson, part in zip(list(contents.lessons.values()), parts, strict=True):
        title, trigger, gist = part[:3]
        tags, words = tuple(part[:8]), dict.fromkeys(part[:3], 1)
        contents.lessons[lesson.path] = replace(
            lesson, title=title, trigger=trigger, gist=gist, tags=tags, repositories=tags, used=words, scope=title
        )
        (wiki / lesson.path).write_bytes(_page(part).encode("utf-8", "replace"))
    contents.by_id = {each.id: each for each in contents.lessons.values()}
    (folder / "recordings").mkdir()
    for number, part in enumerate((texts[::2], texts[1::2])):
        session_id = generated_record(number).session_id
        file = folder / "recordings" / f"{session_id}.json"
        file.write_text(json.dumps(_recording(session_id, part)), encoding="utf-8")
    return contents, folder / "recordings"


def _page(texts: Sequence[str]) -> str:
    sections = "".join(f"## {text.splitlines()[0]}\n\n{text}\n\n" for text in texts)
    return f"---\ntype: guideline\n---\n# {texts[0]}\n\n{texts[0]}\n\n{sections}"


def _recording(session_id: str, texts: Sequence[str]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, text in enumerate(texts):
        function = {"name": text[:60] or "x", "arguments": json.dumps({"command": text, text: text})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages += [
            {"role": "user", "content": text},
            {"role": "assistant", "content": text, "thinking": text, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": text, "is_error": True},
        ]
    return {"schema_version": 1, "session_id": session_id, "source": {"format": "normalized"}, "messages": messages}
