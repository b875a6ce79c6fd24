"""Examples in `--help`, by command: each is a command that works as it is typed, with the reader's own names."""

from __future__ import annotations

from agent_wiki.stages.order import STAGES

EXAMPLES: dict[str, tuple[str, ...]] = {
    "wiki": (
        "wiki ingest ~/.claude/projects       build ./wiki from your sessions",
        'wiki consult "fix the failing test"  what the wiki knows about a task',
        "wiki connect claude-code             have the agent ask by itself",
    ),
    "wiki ingest": (
        "wiki ingest ~/.claude/projects ~/.codex/sessions",
        "wiki ingest recordings --since 2026-01-31 --include '*/my-project/*'",
        "wiki ingest recordings --engine anthropic --estimate",
        "wiki ingest recordings --engine anthropic --max-usd 2",
        "wiki ingest s3://BUCKET/PREFIX --json",
    ),
    "wiki init": ("wiki init", "wiki init --eject"),
    **{f"wiki {stage.name}": stage.examples for stage in STAGES},
    "wiki join": ("wiki join ../their-project/wiki", "wiki join s3://BUCKET/shards"),
    "wiki normalize": ("wiki normalize ~/.codex/sessions --out envelopes",),
    "wiki worklist": ("wiki worklist", "wiki worklist recordings --prompts questions"),
    "wiki prompt": ("wiki prompt summarize session.jsonl", "wiki prompt --request sha256:1f2e --only message"),
    "wiki apply": (
        "wiki apply summarize session.jsonl --answer answer.json",
        "wiki apply < envelope.json",
    ),
    "wiki consult": (
        'wiki consult "run the tests of the parser"',
        'wiki consult "deploy the service" --read --max-tokens 1500',
    ),
    "wiki why": (
        "wiki why run-the-tests-with-bin-test",
        'wiki why "Run the tests with bin/test"',
        "wiki why guidelines/PAGE.md --recordings recordings",
    ),
    "wiki rules": ("wiki rules", "wiki rules --json"),
    "wiki dump": ("wiki dump guidelines > guidelines.json", "wiki dump guidelines --archived"),
    "wiki report": ("wiki report --base origin/main", "wiki report --run run.json --pr body.md"),
    "wiki site": ("wiki site --out public", "wiki site --out public --recordings ~/.claude/projects"),
    "wiki serve": ("wiki serve", "wiki serve --port 0"),
    "wiki view": ("wiki view run-the-tests-with-bin-test",),
    "wiki connect": (
        "wiki connect --list",
        "wiki connect claude-code --allow",
        "wiki connect --all --dry-run",
        "wiki connect codex --remove",
    ),
    "wiki plugin": ("wiki plugin", "wiki plugin --remove"),
    "wiki skills": ("wiki skills install --to .claude/skills",),
    "wiki skills install": ("wiki skills install --to .claude/skills",),
    "wiki mcp": ("wiki mcp --wiki wiki", "wiki mcp --http 8137"),
    "wiki hook": ("wiki hook start", "wiki hook stop < payload.json"),
    "wiki hook start": ("wiki hook start",),
    "wiki hook stop": ("wiki hook stop < payload.json", "wiki hook stop --engine claude-code --calls-a-day 5"),
    "wiki save": ("wiki save session.jsonl", "wiki save --out saved < session.jsonl"),
    "wiki eval": (
        "wiki eval metrics before --set condition=before --out before.jsonl",
        "wiki eval compare before.jsonl after.jsonl",
    ),
    "wiki eval metrics": ("wiki eval metrics recordings --set condition=with-wiki --out rows.jsonl",),
    "wiki eval compare": (
        "wiki eval compare before.jsonl after.jsonl",
        "wiki eval compare rows.jsonl --by condition --plot figures.svg",
    ),
    "wiki status": ("wiki status", "wiki status --json"),
    "wiki doctor": ("wiki doctor", "wiki doctor --online --base-url http://localhost:8080"),
    "wiki tail": ("wiki tail", "wiki tail --lines 50 --no-follow"),
    "wiki schema": ("wiki schema", "wiki schema status"),
    "wiki models": ("wiki models",),
    "wiki cost": ("wiki cost", "wiki cost --json"),
    "wiki review": ("wiki review",),
    "wiki release": ('wiki release skill:deploy --why "we read the script"',),
    "wiki keep": ("wiki keep guidelines/PAGE.md",),
    "wiki restore": ("wiki restore guidelines/PAGE.md", "wiki restore AGENTS.md"),
    "wiki reject": ('wiki reject guidelines/PAGE.md --why "no longer true"',),
    "wiki forget": ("wiki forget 0f3c21 --dry-run", "wiki forget session.jsonl"),
    "wiki config": ("wiki config", "wiki config set rules.ignore '[runners/other-runner]'", "wiki config check"),
    "wiki config show": ("wiki config show", "wiki config show clusters"),
    "wiki config set": (
        "wiki config set rules.ignore '[runners/other-runner]'",
        "wiki config set tasks.focal-length.title 'Read the focal length' --dry-run",
        "wiki config set rules.ignore null",
    ),
    "wiki config check": ("wiki config check",),
    "wiki config patch": ("wiki config patch changes.yaml", "wiki config patch < changes.json"),
    "wiki check": (
        "wiki check",
        "wiki check --recordings recordings",
        "wiki check --fix --dry-run",
    ),
    "wiki secrets": (
        "wiki secrets ~/.claude/projects",
        "wiki secrets --wiki wiki",
        "wiki secrets --wiki wiki --allow notes.md:12 --why 'a made-up key'",
        "wiki secrets recordings --sarif secrets.sarif",
    ),
    "wiki redact": ("wiki redact --dry-run", "wiki redact"),
    "wiki lock": ("wiki lock s3://BUCKET/PREFIX/_wiki.lock -- wiki ingest recordings",),
}
"""By the words that call a command. In an overview two spaces part a command from what it does."""
