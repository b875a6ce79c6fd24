"""Records that leave git: packed in a folder or a bucket, for wikis of more sessions than git holds well.

`_config.yaml` says where (`summaries: sidecar:s3://bucket/prefix`), and `_sidecar.jsonl` in the wiki which packs are of
this state of it, by the digest of what is in them. So each commit finds its own packs, and no night overwrites what
another wrote. A run fetches what it has not, works on the records in the wiki's folder as ever, and stores those packs
whose records changed. Records and summaries, which are rendered from them, are ignored by git.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from agent_wiki.errors import NewerVersion, RunError, UnreadablePage
from agent_wiki.pipeline.pack_places import PackPlace, folder_named, pack_place
from agent_wiki.pipeline.session_stages import is_superseded, merged
from agent_wiki.redaction.finding import may_hold_secrets
from agent_wiki.redaction.places import json_spans
from agent_wiki.redaction.values import redact_value
from agent_wiki.stages.order import entry_types
from agent_wiki.trajectory.checkout import checkout_of
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.files import Signature
from agent_wiki.wiki.layout import CONFIG, SIDECAR
from agent_wiki.wiki.records import FOLDER as SESSIONS
from agent_wiki.wiki.records import parse_record, record_text
from agent_wiki.wiki.store import WikiFolder

_MEMORY = "sidecar.json"
_IGNORE = ".gitignore"
_IGNORED = (f"/{SESSIONS}/", "/summaries/")
_VERSION = 1
_PREFIX = 2  # hexadecimal digits of a path's digest: 256 packs
_LEVEL = 6

Listed = dict[str, dict[str, str]]
"""Pack → the digest of its content and the place where it lies; two after a merge of two branches."""


@dataclass(slots=True)
class Synced:
    """What this folder had in common with its sidecar when they were last compared.

    `packs`: the digests that were listed. `files`: the records that lie in packs as they lay here, by path.
    """

    packs: dict[str, set[str]]
    files: dict[str, Signature]


def require_records(folder: WikiFolder) -> None:
    """Raise `RunError` where a reader would not see all records of a wiki."""
    if (where := records_elsewhere(folder)) is not None:
        raise RunError(f"{folder.root}: records lie in its sidecar ({where}); run `wiki catalog` to fetch them")


def records_elsewhere(folder: WikiFolder) -> str | None:
    """Where the records lie of which not all are here, as in a fresh clone; None where all are. Raises `RunError`."""
    listed = _listed(folder)
    behind = _behind(listed, _synced(folder), folder)
    places = {place for pack in behind for place in listed.get(pack, {}).values()}
    return ", ".join(sorted(places)) if behind else None


def fetch(folder: WikiFolder) -> None:
    """Bring the records here that the listed packs have. What changed here and was not stored yet is joined to them."""
    if folder.is_dry_run:
        require_records(folder)
        return
    listed, synced = _listed(folder), _synced(folder)
    behind = _behind(listed, synced, folder)
    if not behind:
        return
    written, removed = len(folder.written), len(folder.removed)
    base = _by_pack(synced.files)
    for pack in behind:
        _take(folder, _joined_packs(folder, pack, listed.get(pack, {})), base.get(pack, {}), synced.files)
    synced.packs = {pack: set(digests) for pack, digests in listed.items()}
    _remember(folder, synced)
    del folder.written[written:], folder.removed[removed:]  # nothing new came into the wiki


def packs_since(folder: WikiFolder, former: str, problems: list[str]) -> tuple[dict[str, str], list[str]]:
    """What differs from a former state of the wiki, of which `former` is the `_sidecar.jsonl`.

    Out: the records that were in packs which are not listed now, by path, and the paths of those that are in such packs
    now. A pack that cannot be read (the session of another was forgotten, say) is left out, with a line in `problems`.
    """
    then, now = _listed_in(former), _listed(folder)
    apart = {pack for pack in {*then, *now} if then.get(pack) != now.get(pack)}
    found: dict[str, str] = {}
    for pack in sorted(apart):
        try:
            found |= _joined_packs(folder, pack, then.get(pack, {}))
        except RunError as error:
            problems.append(str(error))
            apart.remove(pack)
    return found, sorted(path for path in folder.files() if _is_record(path) and _pack_of(path) in apart)


def check_place(folder: WikiFolder, place: str, *, is_named: bool) -> None:
    """Raise `RunError` for a folder outside the repository that only `_config.yaml` names, and that has no pack of it.

    So it does for a folder inside the wiki, whoever names it. A wiki that was cloned is somebody else's text: it does
    not choose where on this machine files are written. `is_named`: the one who runs the command named the place.
    """
    if place:
        pack_place(place, folder.root)
    target = folder_named(place, folder.root) if place and not is_named else None
    if target is None:
        return
    wiki = folder.root.resolve()
    home = checkout_of(wiki) or wiki.parent
    ours = {_name(pack, digest) for pack, digests in _listed(folder).items() for digest in digests}
    if not target.is_relative_to(home) and not any((target / name).is_file() for name in ours):
        raise RunError(
            f"{CONFIG}: summaries: sidecar:{place} is outside of {home}; if records are to be written there, name it "
            f"once: wiki ingest --summaries sidecar:{place}"
        )


def store(folder: WikiFolder, place: str, *, is_named: bool = False) -> None:
    """Put the packs of records that changed into a place, and say in the wiki which packs are its.

    Without a place the records stay in git from here on. `is_named` as in `check_place`. Raises `RunError`.
    """
    if folder.is_dry_run:
        return
    check_place(folder, place, is_named=is_named)
    if not place:
        _end(folder)
        return
    listed, synced, packs = _listed(folder), _synced(folder), pack_place(place, folder.root)
    _refuse_leaks(folder, synced)
    files = {path: signature for path, signature in folder.files().items() if _is_record(path)}
    now, before = _by_pack(files), _by_pack(synced.files)
    stored: dict[str, str] = {}
    for pack, paths in now.items():
        states = listed.get(pack, {})
        is_same = list(states.values()) == [place] and synced.packs.get(pack) == set(states)
        is_same = is_same and before.get(pack) == paths
        stored[pack] = next(iter(states)) if is_same else _stored(folder, packs, pack, paths)
    lines = [
        json.dumps({"pack": pack, "digest": digest, "place": place, "records": len(now[pack])}, sort_keys=True) + "\n"
        for pack, digest in sorted(stored.items())
    ]
    folder.write_text(SIDECAR, "".join(lines))
    _ignore(folder, add=_IGNORED)
    _remember(folder, Synced({pack: {digest} for pack, digest in stored.items()}, files))
    forgotten = {pack for pack, paths in before.items() if paths.keys() - now.get(pack, {}).keys()}
    _purge(packs, forgotten, {_name(pack, digest) for pack, digest in stored.items()})


def _refuse_leaks(folder: WikiFolder, synced: Synced) -> None:
    """Raise `RunError` where a record that would leave holds a secret, as a person or a merge may have put into it."""
    changed = (path for path, signature in folder.files().items() if synced.files.get(path) != signature)
    for path in sorted(filter(_is_record, changed)):
        if spans := json_spans(folder.text_or_empty(path)):
            raise RunError(f"secrets in {path} ({spans[0][2]}): no record was stored in the sidecar; run `wiki redact`")


def _end(folder: WikiFolder) -> None:
    """Records stay in git from here on: all are here, or `fetch` would have refused."""
    if folder.read_text(SIDECAR) is None:
        return
    folder.remove(SIDECAR)
    _ignore(folder, remove=_IGNORED)
    folder.write_machinery(_MEMORY, None)


def _stored(folder: WikiFolder, packs: PackPlace, pack: str, paths: Iterable[str]) -> str:
    lines = [json.dumps([path, folder.read_text(path, errors="replace")], ensure_ascii=False) for path in sorted(paths)]
    content = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    digest = hashlib.sha256(content).hexdigest()
    packs.add(_name(pack, digest), gzip.compress(content, _LEVEL, mtime=0))
    return digest


def _purge(packs: PackPlace, forgotten: set[str], current: set[str]) -> None:
    """Of packs out of which a session was forgotten no earlier state may stay."""
    for name in packs.names() if forgotten else ():
        if name[:_PREFIX] in forgotten and name not in current:
            packs.remove(name)


def _joined_packs(folder: WikiFolder, pack: str, states: Mapping[str, str]) -> dict[str, str]:
    """The records of all states of a pack by path; of one that two have the one that `wiki join` would keep."""
    found: dict[str, str] = {}
    for digest, place in sorted(states.items()):
        for path, text in _read(pack_place(place, folder.root), pack, digest).items():
            found[path] = _joined(path, found[path], text) if path in found else text
    return found


def _read(packs: PackPlace, pack: str, digest: str) -> dict[str, str]:
    """Raises `RunError` where the pack is missing or is not what its name says."""
    name = _name(pack, digest)
    content = packs.read(name)
    if content is None:
        raise RunError(
            f"{name}: this pack of records is not in the sidecar; where a session of it was forgotten elsewhere, get "
            f"the newer {SIDECAR}, or take its line out of that: what it alone held is mined again"
        )
    try:
        text = gzip.decompress(content)
        if hashlib.sha256(text).hexdigest() != digest:
            raise ValueError("other bytes than its name says")
        found = dict(json.loads(line) for line in text.splitlines())
    except (OSError, EOFError, zlib.error, ValueError, TypeError) as error:
        raise RunError(f"{name}: this pack of records is damaged ({error})") from error
    if not all(_is_record(path) and _pack_of(path) == pack for path in found):
        raise RunError(f"{name}: this pack of records is damaged (it holds something else)")
    return found


def _take(
    folder: WikiFolder, theirs: Mapping[str, str], base: Mapping[str, Signature], synced: dict[str, Signature]
) -> None:
    """Make the records of one pack here those of the sidecar, joined to what was mined here and not stored yet."""
    here = folder.files()
    for path in base.keys() - theirs.keys():
        if here.get(path) == base[path]:
            folder.remove(path)  # forgotten elsewhere
        synced.pop(path)
    for path, text in theirs.items():
        mine = None if here.get(path) in (None, base.get(path)) else folder.read_text(path, errors="replace")
        kept = _redacted(text if mine is None else _joined(path, mine, text), path)
        folder.write_text(path, kept)
        synced.pop(path, None)
        if kept == text:
            synced[path] = folder.files()[path]


def _redacted(text: str, path: str) -> str:
    """A record of the sidecar, which an earlier version may have written, without its secrets."""
    if not may_hold_secrets(text):
        return text
    try:
        values, found = redact_value(json.loads(text))
        return record_text(parse_record(json.dumps(values).encode(), path, entry_types())) if found else text
    except (ValueError, RecursionError, UnreadablePage):
        return text  # it is reported by the run, and never stored again


def _joined(path: str, one: str, other: str) -> str:
    """Of two versions of a record the one that `wiki join` makes of them.

    Raises `RunError` where a newer version of this program wrote one of them: it must not be lost.
    """
    if one == other:
        return one
    try:
        known, new = (parse_record(text.encode("utf-8"), path, entry_types()) for text in sorted((one, other)))
    except NewerVersion as error:
        raise RunError(str(error)) from error
    except UnreadablePage:
        return max(one, other)  # it is reported by the run
    if is_superseded(new.order, new.recording.file, known.order, known.recording.file):
        return record_text(known)
    return record_text(merged(known, new))


def _is_record(path: str) -> bool:
    folder, _, name = path.partition("/")
    return folder == SESSIONS and name.endswith(".json") and "/" not in name


def _pack_of(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8")).hexdigest()[:_PREFIX]


def _name(pack: str, digest: str) -> str:
    return f"{pack}-{digest}.jsonl.gz"


def _by_pack(files: Mapping[str, Signature]) -> dict[str, dict[str, Signature]]:
    found: defaultdict[str, dict[str, Signature]] = defaultdict(dict)
    for path, signature in files.items():
        found[_pack_of(path)][path] = signature
    return found


def _behind(listed: Listed, synced: Synced, folder: WikiFolder) -> list[str]:
    """The packs of which this folder has not the state that is listed, or not all records; none if none is listed."""
    if not listed:
        return []
    packs = {*listed, *synced.packs}
    unseen = {pack for pack in packs if set(listed.get(pack, ())) != synced.packs.get(pack, set())}
    return sorted(unseen | {_pack_of(path) for path in synced.files.keys() - folder.files().keys()})


def _listed(folder: WikiFolder) -> Listed:
    return _listed_in(folder.read_text(SIDECAR) or "")


def _listed_in(text: str) -> Listed:
    """Raises `RunError` for a line that is none: records would be missing without a word."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            entry = json.loads(line)
            found[str(entry["pack"])][str(entry["digest"])] = str(entry["place"])
        except (ValueError, TypeError, KeyError) as error:
            raise RunError(f"{SIDECAR}:{number}: no line of this file; correct it and run again") from error
    return dict(found)


def _synced(folder: WikiFolder) -> Synced:
    kept: Any = folder.read_machinery(_MEMORY)
    if not isinstance(kept, dict) or kept.get("version") != _VERSION:
        return Synced({}, {})
    packs = {pack: set(digests) for pack, digests in kept["packs"].items()}
    return Synced(packs, kept["files"])


def _remember(folder: WikiFolder, synced: Synced) -> None:
    packs = {pack: sorted(digests) for pack, digests in synced.packs.items()}
    folder.write_machinery(_MEMORY, {"version": _VERSION, "packs": packs, "files": synced.files})


def _ignore(folder: WikiFolder, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
    """Add lines to the wiki's `.gitignore`, or take them out; what else is in it stays, and a file of nothing goes."""
    lines = folder.text_or_empty(_IGNORE).splitlines()
    wanted = [line for line in lines if line not in remove] + [line for line in add if line not in lines]
    if not wanted:
        folder.remove(_IGNORE)
    elif wanted != lines:
        folder.write_text(_IGNORE, "".join(f"{line}\n" for line in wanted))
