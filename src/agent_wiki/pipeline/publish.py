"""From a wiki in memory to a wiki on disk, and back. The pure stages decide; here their results are put in place.

Only what differs from what lies on disk is written. Guidelines and skills go first, summaries last, for a
summary says that its session is done.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agent_wiki.engine import Engine
from agent_wiki.engines import resolved
from agent_wiki.errors import BudgetReached, Queued, Unanswered, UnitError, UnreadablePage
from agent_wiki.pipeline import corpus
from agent_wiki.pipeline.collector import cycle_search_paused
from agent_wiki.pipeline.mine import file_on, is_outdone, order_on
from agent_wiki.report import Failure, Progress, Report
from agent_wiki.stages.catalog import Catalogued, catalog
from agent_wiki.wiki.config import CLUSTERS, TAGS, TASKS, edit_config, parse_config
from agent_wiki.wiki.contract import contract, is_its_owners
from agent_wiki.wiki.index_shards import FOLDER as SHARDS
from agent_wiki.wiki.index_shards import is_shard
from agent_wiki.wiki.layout import (
    AGENTS,
    ARCHIVE,
    AUDIT_LOG,
    CONFIG,
    INDEX,
    archived,
    guideline_path,
    kind_of,
    page_id,
    skill_path,
)
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.sessions import entries_of
from agent_wiki.wiki.state import SessionContribution, WikiState, is_ours
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates

Asking = Callable[[], Callable[[], None]]
"""Asks the questions of a stage and gives what puts the answers in place."""


class Publisher:
    """One run's hold on a wiki folder: loads it, takes contributions, writes what changed."""

    def __init__(self, folder: WikiFolder, engine: str | Engine, report: Report) -> None:
        self.folder = folder
        self.report = report
        self.engine = resolved(engine)
        self.overrides: Path | None = folder.root / "templates"
        self.templates = Templates(self.overrides)
        self.state = WikiState()
        self.on_disk: dict[str, Page] = {}
        self._config_text = ""
        self._taken: set[str] = set()
        self.is_unanswered = False  # a corpus stage could not ask all its questions: what it made before stands
        self.unreadable: set[str] = set()  # pages that are left alone until somebody mends them

    @cycle_search_paused()
    def load(self) -> None:
        """Read the wiki; make it when it is not there. A page that cannot be read is a failure of that page."""
        problems: list[UnreadablePage] = []
        self.on_disk = self.folder.load_pages(problems)
        self.report.failures += [Failure.of(problem) for problem in problems]
        self.unreadable = {problem.page for problem in problems}
        self._config_text = self.folder.read_text(CONFIG) or self.templates.render("config.yaml")
        self.state = WikiState(config=parse_config(self._config_text))
        self.state.scripts = self._scripts()
        self.state.add_pages(self.on_disk, self.templates)

    def take(self, contributed: SessionContribution, *, rewrite: bool = False) -> bool:
        """Put one session's contribution in, unless a larger version of it is there already; tells whether it was."""
        pages = self.state.pages_of_session(contributed.session_id)
        if pages and contributed.summaries and self._is_outdone(contributed, pages[0], rewrite=rewrite):
            return False
        taken_path = next((path for path in contributed.summaries or () if self._is_anothers(path, contributed)), None)
        if taken_path is not None:  # a session "x__y" and the arc "y" of a session "x"
            taken = Failure("page", contributed.session_id, f"{taken_path} is another session's page")
            self.report.failures.append(taken)
            return False
        self._taken.add(contributed.session_id)
        self.state.replace_session(contributed, self.templates)
        if rewrite:
            self.state.render_guidelines_of(contributed.session_id, self.templates)
        return True

    def _is_anothers(self, path: str, contributed: SessionContribution) -> bool:
        page = self.state.summaries.get(path)
        return page is not None and page.fields.get("session_id") not in (None, contributed.session_id)

    def _is_outdone(self, contributed: SessionContribution, standing: Page, *, rewrite: bool) -> bool:
        if contributed.session_id in self._taken:
            return contributed.order < order_on(standing)
        file = next((file_on(page) for page in (contributed.summaries or {}).values() if file_on(page)), None)
        return not rewrite and is_outdone(contributed.order, file, order_on(standing), file_on(standing))

    def flush(self) -> None:
        """Put on disk what was taken so far, without waiting for the corpus stages."""
        self._log([*self._recall_records(), *self._skill_records()])
        self._edit_tags()
        self._write_config()
        self._remove_vanished()
        paths = {
            str(page.fields.get("id") or page_id(path)): path
            for path, page in self.on_disk.items()
            if kind_of(path) == "guideline" and path not in self.state.doubles
        }
        for guideline_id, page in self.state.guidelines.items():
            former = paths.get(guideline_id)
            if former is not None and self.on_disk[former] is page:
                continue
            path = guideline_path(page.title, guideline_id)
            if former is not None and former.startswith(f"{ARCHIVE}/"):
                path = archived(path)
            self._write(path, page)
            if former not in (None, path):
                self._remove(str(former))
        for skill_slug, page in self.state.skills.items():
            if self.on_disk.get(skill_path(skill_slug)) is not page:
                self._write_scripts(skill_slug)
                self._write(skill_path(skill_slug), page)
        for path, page in self.state.summaries.items():
            if self.on_disk.get(path) is not page:
                self._write(path, page)

    def _remove_vanished(self) -> None:
        """Take away what no session contributes any more, before the summaries say that all is done."""
        for path, page in list(self.on_disk.items()):
            kind = kind_of(path)
            if path in self.state.doubles:
                continue
            if kind == "guideline" and str(page.fields.get("id") or page_id(path)) not in self.state.guidelines:
                self._remove(path)
            if kind == "skill" and path.split("/")[1] not in self.state.skills:
                self._remove(path)

    @cycle_search_paused()
    def finish(self, stages: Sequence[str], progress: Progress, *, archive_covered: bool) -> None:
        """Run the corpus stages asked for, then catalog, then write all that changed."""
        self._edit_tags()
        asked = {name: ask for name, ask in self._corpus_stages().items() if name in stages}
        for name, answered in self._at_once(asked).items():
            progress(name.replace("-", " "), 0, 1)
            self._unless_unanswered(name, answered)
        progress("catalog", 0, 1)
        archive = corpus.archive(self.state, archive_covered=archive_covered, standing=self._archived_on_disk())
        made = catalog(self.state, archive, self.templates)
        self.report.warnings += made.warnings
        self._log([*self._recall_records(), *self._skill_records(), *self._archive_records(made)])
        self._write_config()
        self._put(made)
        self._put_files(made)
        self._tell(made)
        self.folder.save_cache(self.on_disk)

    def _corpus_stages(self) -> dict[str, Asking]:
        """For each stage what asks its questions and gives what puts the answers in place."""
        return {"consolidate-clusters": self._consolidate, "discover-tasks": self._discover}

    def _at_once(self, asked: dict[str, Asking]) -> dict[str, Asking]:
        """Ask for several stages side by side where the engine waits for answers: neither needs the other."""
        if len(asked) < 2 or self.engine.concurrency < 2:
            return asked
        with ThreadPoolExecutor(len(asked)) as threads:
            running = {name: threads.submit(ask) for name, ask in asked.items()}
        return {name: each.result for name, each in running.items()}

    def _consolidate(self) -> Callable[[], None]:
        unanswered: list[Unanswered] = []
        warnings: list[str] = []
        entries = corpus.cluster_entries(self.state, self.engine, warnings, unanswered)

        def put() -> None:
            self._edit(CLUSTERS, entries)
            self._note(warnings, unanswered)

        return put

    def _discover(self) -> Callable[[], None]:
        unanswered: list[Unanswered] = []
        warnings: list[str] = []
        entries, subtasks = corpus.task_entries(self.state, self.engine, self.templates, warnings, unanswered)

        def put() -> None:
            self._edit(TASKS, entries)
            self.state.subtasks = subtasks
            self._note(warnings, unanswered)

        return put

    def _note(self, warnings: Sequence[str], unanswered: Sequence[Unanswered]) -> None:
        self.report.warnings += warnings
        self.is_unanswered = self.is_unanswered or bool(unanswered)
        for error in unanswered:
            (self.report.waiting if isinstance(error, Queued) else self.report.failures).append(Failure.of(error))

    def _unless_unanswered(self, stage: str, answered: Asking) -> None:
        """Run a corpus stage; what it made before stands when the engine cannot answer now."""
        try:
            answered()()
        except BudgetReached as error:
            self.is_unanswered, self.report.stopped = True, str(error)
        except UnitError as error:
            self.is_unanswered = True
            self.report.failures.append(Failure.of(error, stage=stage))

    def _put(self, made: Catalogued) -> None:
        """Write pages that differ and remove those that are no more."""
        for skill_slug in sorted(self.state.skills):
            self._write_scripts(skill_slug)
        for is_summary in (False, True):
            for path in sorted(path for path in made.pages if (kind_of(path) == "summary") == is_summary):
                if _differs(self.on_disk.get(path), made.pages[path]):
                    self._write(path, made.pages[path])
                else:
                    self.report.pages_unchanged += 1
            for path in sorted(path for path in self.on_disk if (kind_of(path) == "summary") == is_summary):
                if path not in made.pages:
                    self._remove(path)

    def _put_files(self, made: Catalogued) -> None:
        for path, text in made.files.items():
            self.folder.write_text(path, text)
        self._remove_shards_but(made.files)
        standing = self.folder.read_text(AGENTS, errors="replace")
        if standing is None or not is_its_owners(standing):
            self.folder.write_text(AGENTS, contract(made.files[INDEX], made.files, self.templates))

    def _remove_shards_but(self, wanted: Mapping[str, str]) -> None:
        """Take away the shards of the index that the wiki no longer has."""
        folder = self.folder.root / SHARDS
        if not folder.is_dir() or folder.is_symlink():
            return
        for name in sorted(each.name for each in folder.iterdir()):
            if is_shard(name) and f"{SHARDS}/{name}" not in wanted:
                self.folder.remove(f"{SHARDS}/{name}")
        if not self.folder.is_dry_run and not any(folder.iterdir()):
            folder.rmdir()

    def _write(self, path: str, page: Page) -> None:
        if path in self.unreadable:
            return
        is_foreign = path in self.on_disk and not is_ours(page)
        self.folder.write_page(path, page, preserve=is_foreign)
        self.on_disk[path] = page

    def _remove(self, path: str) -> None:
        kind = kind_of(path)
        if kind == "skill":
            for name in self._script_files(path.split("/")[1]):
                self.folder.remove(f"skills/{path.split('/')[1]}/scripts/{name}")
        self.folder.remove(path)
        del self.on_disk[path]

    def _scripts(self) -> dict[str, dict[str, str]]:
        """Every skill's scripts by slug and file name."""
        found: dict[str, dict[str, str]] = {}
        for path, page in self.on_disk.items():
            if kind_of(path) == "skill" and is_ours(page):
                skill_slug = path.split("/")[1]
                texts = {
                    name: self.folder.read_text(f"skills/{skill_slug}/scripts/{name}") or ""
                    for name in self._script_files(skill_slug)
                }
                if texts:
                    found[skill_slug] = texts
        return found

    def _script_files(self, skill_slug: str) -> list[str]:
        scripts = self.folder.root / "skills" / skill_slug / "scripts"
        if not scripts.is_dir() or scripts.is_symlink():
            return []
        return sorted(each.name for each in scripts.iterdir() if each.is_file() and not each.name.startswith("."))

    def _write_scripts(self, skill_slug: str) -> None:
        if not is_ours(self.state.skills[skill_slug]):
            return
        wanted = self.state.scripts.get(skill_slug, {})
        for name, text in wanted.items():
            path = f"skills/{skill_slug}/scripts/{name}"
            self.folder.write_text(path, text)
            if name.endswith((".sh", ".bash")) or text.startswith("#!"):
                self.folder.make_executable(path)
        for name in sorted(set(self._script_files(skill_slug)) - set(wanted)):
            self.folder.remove(f"skills/{skill_slug}/scripts/{name}")

    def _edit_tags(self) -> None:
        """Keep one line a guideline in the configuration, unless a person changed it."""
        before = {
            str(page.fields.get("id")): own_tags(page)
            for path, page in self.on_disk.items()
            if kind_of(path) == "guideline" and is_ours(page)
        }
        configured = self.state.config.tags
        entries: dict[str, Any] = {}
        for guideline_id, page in self.state.guidelines.items():
            if not is_ours(page):
                continue
            own, standing = own_tags(page), configured.get(guideline_id)
            if standing is None or (standing != own and standing == before.get(guideline_id)):
                entries[guideline_id] = own
        for guideline_id, own in before.items():
            if guideline_id not in self.state.guidelines and configured.get(guideline_id) == own:
                entries[guideline_id] = None
        self._edit(TAGS, entries)

    def _edit(self, section: tuple[str, ...], entries: dict[str, Any]) -> None:
        edited = edit_config(self._config_text, section, entries)
        if edited != self._config_text:
            self._config_text = edited
            self.state.config = parse_config(edited)

    def _write_config(self) -> None:
        self.folder.write_text(CONFIG, self._config_text)

    def _archived_on_disk(self) -> dict[str, tuple[str, str]]:
        """Guideline id → (reason, covering page) of pages that lie in the archive without being ours."""
        found: dict[str, tuple[str, str]] = {}
        for path, page in self.on_disk.items():
            if path.startswith("_archived/") and not is_ours(page) and path not in self.state.doubles:
                why = page.fields.get("archived")
                why = why if isinstance(why, dict) else {}
                guideline_id = str(page.fields.get("id") or page_id(path))
                found[guideline_id] = (str(why.get("reason") or "archived"), str(why.get("by") or "owner"))
        return found

    def _log(self, records: list[dict[str, Any]]) -> None:
        """Append what is new to the audit log, before the pages that show it are written."""
        if not records:
            return
        known = self._last_audited()
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        fresh = [record for record in records if known.get(_subject(record)) != record]
        self.folder.append_audit({"action": record["action"], "ts": now, **record} for record in fresh)

    def _last_audited(self) -> dict[tuple[str, ...], dict[str, Any]]:
        """The last record of each subject, so that a resumed run does not log twice."""
        last: dict[tuple[str, ...], dict[str, Any]] = {}
        for line in (self.folder.read_text(AUDIT_LOG, errors="replace") or "").split("\n"):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                record.pop("ts", None)
                last[_subject(record)] = record
        return last

    def _recall_records(self) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = []
        for path, page in sorted(self.state.summaries.items()):
            before = self.on_disk.get(path)
            entries = entries_of(page.fields.get("recalled_guidelines"))
            if not is_ours(page) or (before is not None and before.fields.get("recalled_guidelines") == entries):
                continue
            session_id = str(page.fields.get("session_id"))
            records.extend(
                {
                    "action": "summary.guideline_use",
                    "session_id": session_id,
                    "id": str(entry.get("id")),
                    "status": str(entry.get("status")),
                }
                for entry in entries
            )
        return records

    def _skill_records(self) -> list[dict[str, Any]]:
        return [
            {"action": "synthesize_skill", "id": f"skill:{slug}", "scripts": sorted(self.state.scripts.get(slug, {}))}
            for slug in sorted(self.state.skills)
            if skill_path(slug) not in self.on_disk
        ]

    def _archive_records(self, made: Catalogued) -> list[dict[str, Any]]:
        records = []
        for path in sorted(made.pages):
            if path.startswith("_archived/") and path not in self.on_disk:
                guideline_id = str(made.pages[path].fields.get("id"))
                reason, target = made.archived[guideline_id]
                source = f"guidelines/{path.rpartition('/')[2]}"
                records.append(
                    {
                        "action": "archive_guideline",
                        "id": guideline_id,
                        "reason": reason,
                        "target": target,
                        "src": source,
                        "dst": path,
                    }
                )
                if source not in self.on_disk:
                    continue
                self.report.archived.append(path)
        return records

    def _tell(self, made: Catalogued) -> None:
        self.report.written = list(dict.fromkeys(self.folder.written))
        self.report.removed = list(self.folder.removed)
        counts: Counter[str] = Counter(kind_of(path) or "other" for path in made.pages if not path.startswith("_"))
        counts["archived"] = sum(path.startswith("_archived/") for path in made.pages)
        self.report.pages = Counter({f"{kind} pages": count for kind, count in counts.items() if count})


def _differs(former: Page | None, page: Page) -> bool:
    return former is None or former != page or list(former.fields) != list(page.fields)


def own_tags(page: Page) -> list[str]:
    """The tags a stage gave a page, whatever the configuration says now."""
    tags = page.fields.get("stage_tags", page.fields.get("tags"))
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _subject(record: dict[str, Any]) -> tuple[str, ...]:
    return (str(record.get("action")), str(record.get("session_id", "")), str(record.get("id", "")))
