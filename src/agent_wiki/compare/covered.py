"""Which guidelines a skill covers, so that they can be archived.

Either of two ways, after the original agent-wiki's `--archive-covered`: the skill has all of the guideline's tags, at
least two of them specific (from any session); or the guideline's own words are in the skill, which
counts only within one session, where similar words mean the same event. Archiving too few is better than one too many:
an archived guideline is no longer retrieved.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from agent_wiki.trajectory.lazily import dataclass

_FEWEST_SPECIFIC_TAGS = 2
_FEWEST_KEYWORDS, _MANY_KEYWORDS = 3, 5
_FEWEST_BESIDE_A_FORMAT = 2

_GENERIC_TAG_WORDS = """agent api automation aws azure bash best-practice build c checks ci cli cloud code coding
    command commands config configuration cpp csharp data debugging dependencies deployment development docker
    documentation environment error error-handling errors file files format formatting gcp general git github
    gitlab go golang guideline install installation java javascript kotlin kubernetes linux lint linting macos
    node nodejs package performance php pip planning process python quality refactoring repository review ruby
    rust script scripting scripts search security setup shell skill sql swift test testing tests text tool
    tool-calls tools typescript unix validation verification web windows workflow"""
GENERIC_TAGS = frozenset(_GENERIC_TAG_WORDS.split())

_STOP_WORD_LIST = """a about after again all also always an and any are as at avoid be because before both but by
    call can check code command commands do does done each else error errors every fail failed fails file files
    find first fix for from get give has have how if in instead into is it its just keep like line lines look make
    many more most must need needs never new no not of off on one only or other out over own path paths project
    read repository result results run running same set should show so some step steps such take test tests than
    that the their them then there these they this through time to tool tools try two under until up use used uses
    using value values via wait was way what when where which while who why will with within without work works
    write you your"""
_STOP_WORDS = frozenset(_STOP_WORD_LIST.split())

_FORMAT_WORDS = """avro avif bmp bz2 csv docx elf epub exif flac geojson gif gzip har hdf5 heic html ics ini ipynb
    jpeg jpg json jsonl markdown midi mkv mp3 mp4 msgpack ndjson ogg onnx parquet pcap pdf png pptx protobuf psd
    rar rtf sqlite srt svg tar tiff toml tsv ttf vcf wasm wav webm webp woff xls xlsx xml yaml yml zip zst"""
FORMATS = frozenset(_FORMAT_WORDS.split())


@dataclass(frozen=True, slots=True)
class GuidelineSubject:
    """The parts of a guideline page that decide coverage: its words, its tags and the sessions that support it."""

    id: str
    title: str
    rule: str
    tags: tuple[str, ...]
    sessions: tuple[str, ...]


def covered_guidelines(
    skill_tags: Collection[str],
    skill_text: str,
    skill_sessions: Collection[str],
    guidelines: Iterable[GuidelineSubject],
) -> list[str]:
    """The sorted ids of the guidelines that one skill covers.

    `skill_text` is the skill's full wording (name, description, steps with commands); `skill_sessions` are the
    sessions that support it.
    """
    words = _words(skill_text)
    sessions = frozenset(skill_sessions)
    tags = frozenset(skill_tags)
    return sorted(
        each.id
        for each in guidelines
        if _tags_cover(tags, each) or (not sessions.isdisjoint(each.sessions) and _words_cover(words, each))
    )


def _tags_cover(tags: frozenset[str], guideline: GuidelineSubject) -> bool:
    own = frozenset(guideline.tags)
    return own <= tags and len(own - GENERIC_TAGS) >= _FEWEST_SPECIFIC_TAGS


def _words_cover(words: frozenset[str], guideline: GuidelineSubject) -> bool:
    """All keywords of the title (of five or more, one may be missing), or its file formats and two other words."""
    title = _words(guideline.title) - _STOP_WORDS
    keywords = title - FORMATS
    shared = keywords & words
    formats = title & FORMATS
    if formats and formats <= words and len(shared) >= _FEWEST_BESIDE_A_FORMAT:
        return True
    may_miss = 1 if len(keywords) >= _MANY_KEYWORDS else 0
    return len(shared) >= max(_FEWEST_KEYWORDS, len(keywords) - may_miss) and formats <= words


def _words(text: str) -> frozenset[str]:
    """Lower-case words, plurals reduced to their singular."""
    found = re.findall(r"[a-z0-9]+", text.lower())
    return frozenset(_singular(word) for word in found if len(word) > 1)


def _singular(word: str) -> str:
    if word in _STOP_WORDS or word in FORMATS or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    return word[:-1] if word.endswith("s") else word
