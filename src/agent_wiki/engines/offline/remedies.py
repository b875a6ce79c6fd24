"""What the field already knows: errors with one well-known remedy, worded once and for all.

An entry alone is no lesson: a session has to show the error, and then the remedy applied with success. The
table gives such an event the words a reader needs, and the same words in every session.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_wiki.engines.offline.lessons import Wording


@dataclass(frozen=True, slots=True)
class Remedy:
    """`error` is looked for in the failed output; `command` in the later command line that worked, or `edit` in
    the text a later edit put in; `failed` (when given) has to be in the failed command line. Without `command` and
    `edit` it is enough that the same command works later.

    `is_same`: what worked has to be the failed command, otherwise written. `is_quiet`: the error stands in a result
    that counts as success. `may_stay_red`: applying the remedy ends in a failure of its own that is meant (a
    regression test seen red, a merge with conflicts).
    """

    wording: Wording
    error: re.Pattern[str]
    command: re.Pattern[str] | None = None
    edit: re.Pattern[str] | None = None
    failed: re.Pattern[str] | None = None
    is_same: bool = False
    is_quiet: bool = False
    may_stay_red: bool = False


def _remedy(
    rule_id: str,
    title: str,
    rule: str,
    trigger: str,
    tags: str,
    error: str,
    command: str | None = None,
    edit: str | None = None,
    failed: str | None = None,
    *,
    is_same: bool = False,
    is_quiet: bool = False,
    may_stay_red: bool = False,
) -> Remedy:
    return Remedy(
        Wording(rule_id, title, rule, trigger, tuple(tags.split())),
        re.compile(error),
        re.compile(command) if command else None,
        re.compile(edit) if edit else None,
        re.compile(failed) if failed else None,
        is_same,
        is_quiet,
        may_stay_red,
    )


GIT = (
    _remedy(
        "remedies/branch-off-remote",
        "Branch off the remote in worktrees",
        "In a git worktree, start a branch with `git checkout -b <branch> origin/<base>`: the base branch itself is "
        "checked out in another worktree and cannot be switched to.",
        "git answers `is already used by worktree` or `is already checked out` when a branch is to be switched.",
        "git worktree branches",
        r"is already (?:used by worktree|checked out) at",
        r"git (?:checkout -[bB]|switch -[cC]|worktree add|checkout --detach)\b.{0,120}\b(?:origin|upstream)/",
        failed=r"git ",
    ),
    _remedy(
        "remedies/set-upstream",
        "Set upstream on the first push",
        "Push a new branch the first time with `git push -u origin <branch>`.",
        "`git push` or `git pull` on a branch that was only created locally.",
        "git push branches",
        r"has no upstream branch|no tracking information for the current branch",
        r"git push\b.{0,120}\s(?:-u|--set-upstream)\b",
        failed=r"git (?:push|pull)",
    ),
    _remedy(
        "remedies/rebase-before-push",
        "Rebase before pushing a shared branch",
        "Bring in the remote's commits (`git pull --rebase`) before pushing to a branch that others push to as well.",
        "`git push` is rejected with `fetch first` or `non-fast-forward`.",
        "git push rebase",
        r"! \[rejected\].{0,200}(?:fetch first|non-fast-forward)",
        r"git (?:pull|rebase|merge)\b",
        failed=r"git push",
    ),
    _remedy(
        "remedies/show-committed-code",
        "Restore committed code with git show",
        "To run a test against the code before a commit, put the old file back with "
        "`git show <commit>~1:<file> > <file>` and restore it with `git checkout <file>` afterwards; "
        "`git stash` holds back only what is not committed yet.",
        "A regression test has to be seen failing without its fix, and the fix is already committed.",
        "git testing regression-test",
        r"No local changes to save",
        r"git (?:show \S+:\S+ ?>|checkout \S*[~^]\S* -- |revert -n|restore --source)",
        failed=r"git stash",
        may_stay_red=True,
    ),
    _remedy(
        "remedies/merge-remote-branch",
        "Fetch and merge the remote branch",
        "To bring a branch up to date, run `git fetch origin` and merge `origin/<base>`: the local base branch may lag "
        "behind, and merging it then says `Already up to date`.",
        "A branch has to take in the base branch, or `git merge <base>` says `Already up to date` against what the "
        "user "
        "expects.",
        "git merge branches",
        r"^Already up.to.date",
        r"git merge origin/",
        failed=r"git merge (?!origin/)[\w-]",
        is_quiet=True,
        may_stay_red=True,
    ),
    _remedy(
        "remedies/commit-identity",
        "Give git an identity for commits",
        "Where git knows no author, pass one with "
        "`git -c user.name=<name> -c user.email=<address> commit` or set it with `git config` first.",
        "`git commit` stops with `Please tell me who you are`.",
        "git commit setup",
        r"Please tell me who you are|unable to auto-detect email address",
        r"user\.(?:email|name)|GIT_(?:AUTHOR|COMMITTER)_",
        failed=r"git ",
    ),
    _remedy(
        "remedies/pull-request-api",
        "Edit pull requests through the API",
        "Change the title or body of a pull request with `gh api -X PATCH repos/<owner>/<repo>/pulls/<number>` when "
        "`gh pr edit` stops at classic projects.",
        "`gh pr edit` answers that `Projects (classic)` is deprecated or that `projectCards` cannot be read.",
        "github gh pull-requests",
        r"Projects \(classic\)|projectCards",
        r"gh api\b.{0,120}(?:PATCH|pulls/)",
        failed=r"gh pr edit",
    ),
    _remedy(
        "remedies/unshallow",
        "Fetch full history in shallow clones",
        "In a shallow clone, run `git fetch --unshallow` (or `--depth`) before comparing with older commits.",
        "git answers `unknown revision` or `shallow` when an older commit or a merge base is asked for.",
        "git history ci",
        r"unknown revision or path|shallow (?:update|file)|no merge base|bad revision",
        r"git fetch\b.{0,120}--(?:unshallow|depth|deepen)",
        failed=r"git ",
    ),
)

SHELLS = (
    _remedy(
        "remedies/quote-wildcards",
        "Quote wildcards in zsh",
        "In zsh, put arguments that hold `*`, `?`, `[` or `^` in quotes, or the command is not run at all.",
        "zsh answers `no matches found`.",
        "zsh shell quoting",
        r"no matches found: ",
        r"['\"][^'\"\n]{0,200}[*?\[^][^'\"\n]{0,200}['\"]",
        is_same=True,
    ),
    _remedy(
        "remedies/loop-over-names",
        "Loop explicitly over names in zsh",
        "In zsh, loop over the names themselves or over an array: an unquoted variable that holds several names "
        "stays one word.",
        "Several file names stand in one shell variable, and the command answers `No such file or directory` for "
        "all of them at once.",
        "zsh shell word-splitting",
        r"[\w-]\.\w{1,8} \S{1,80}\.\w{1,8}: No such file or directory",
        r"\bfor \w+ in [^$;\n]{0,200}\.\w",
    ),
    _remedy(
        "remedies/bsd-sed-suffix",
        "Give macOS sed an empty suffix",
        "On macOS, edit in place with `sed -i '' …`: BSD sed takes the word after `-i` for a backup suffix.",
        "`sed -i` stops with `invalid command code`, `extra characters` or `undefined label`.",
        "macos sed shell",
        r"sed: \d+: .{0,200}(?:invalid command code|extra characters|undefined label|command \S+ expects)"
        r"|sed: -I or -i may not",
        r"sed -i ''|sed -i \"\"|perl -p?i|python3? -",
        failed=r"\bsed\b",
    ),
    _remedy(
        "remedies/no-timeout-command",
        "Limit run time without timeout",
        "macOS has no `timeout` command: use `gtimeout` from coreutils, or the time limit of the tool itself.",
        "`command not found: timeout` on macOS.",
        "macos shell timeout",
        r"command not found: timeout|timeout: command not found",
        failed=r"\btimeout \d",
    ),
    _remedy(
        "remedies/script-interpreter",
        "Run scripts through their interpreter",
        "Run a script that is not executable through its interpreter (`bash <file>`), or make it executable with "
        "`chmod +x <file>` first.",
        "A script of the repository answers `Permission denied`.",
        "shell permissions scripts",
        r"(?:\.(?:sh|py|rb|pl)|/\w+): [Pp]ermission denied|permission denied: \./",
        r"chmod \S*\+?[x7]|\b(?:bash|sh|python3?) \S+\.(?:sh|py)",
    ),
    _remedy(
        "remedies/carriage-returns",
        "Strip carriage returns from scripts",
        "Convert a script with Windows line ends (`dos2unix`, or `sed -i 's/\\r$//'`) before running it.",
        "A shell script answers `\\r: command not found` or `bad interpreter … ^M`.",
        "shell line-endings scripts",
        r"\\r'?: command not found|\^M: bad interpreter|bad interpreter: .{0,200}\^M",
        r"dos2unix|s/\\r|tr -d '\\r'",
    ),
    _remedy(
        "remedies/text-through-file",
        "Pass tricky text through a file",
        "Pass text that holds quotes, backticks or apostrophes through a file or a here-document with a quoted mark "
        "(`<<'EOF'`): inside single quotes no apostrophe may stand, and inside double quotes backticks run.",
        "The shell answers `unmatched` or `unexpected EOF while looking for matching`, or a long text is to be "
        "passed in "
        "quotes.",
        "shell quoting here-documents",
        r"unmatched [\"'`]|unexpected EOF while looking for matching",
    ),
    _remedy(
        "remedies/free-port",
        "Free the port before starting servers",
        "Before starting a server, see who holds the port (`lsof -i :<port>`) and stop it, or choose a free port.",
        "A server stops with `address already in use`.",
        "servers ports debugging",
        r"EADDRINUSE|[Aa]ddress already in use|port is already allocated",
        r"lsof|fuser|\bkill\b|pkill|--port|-p \d+|PORT=",
    ),
)

LANGUAGES = (
    _remedy(
        "remedies/go-cross-compile-tests",
        "Cross-compile Go tests with -c",
        "To check Go tests for another platform, compile them with `GOOS=<os> GOARCH=<arch> go test -c -o <file> "
        "<package>`; only that platform can run them.",
        "`go test` with `GOOS` or `GOARCH` set stops with `exec format error`.",
        "go testing cross-compilation",
        r"exec format error",
        r"go test\b.{0,120}\s-c\b|go vet\b|go build\b",
        failed=r"GOOS=|GOARCH=",
    ),
    _remedy(
        "remedies/go-mod-tidy",
        "Tidy go.mod after new imports",
        "Run `go mod tidy` (or `go get <module>`) after importing a new module and before building.",
        "Go answers `missing go.sum entry`, `updates to go.mod needed` or `no required module provides package`.",
        "go modules dependencies",
        r"missing go\.sum entry|updates to go\.mod needed|no required module provides package",
        r"go (?:mod (?:tidy|download)|get)\b",
        failed=r"\bgo \b|mise|make|lint",
    ),
    _remedy(
        "remedies/go-cache-in-workspace",
        "Keep Go's cache in the workspace",
        "In a sandbox, point Go's build cache at a folder that can be written: `GOCACHE=<folder> go test ./...`.",
        "Go cannot write its build cache (`operation not permitted`, `permission denied`, `read-only file system`).",
        "go sandbox build-cache",
        r"(?:go-build|GOCACHE|mod/cache).{0,200}(?:operation not permitted|permission denied|read-only)",
        r"GOCACHE=",
    ),
    _remedy(
        "remedies/python-environment",
        "Install Python packages in an environment",
        "Create a virtual environment (`python3 -m venv <folder>`, `uv venv`) and install into it: the system's Python "
        "refuses packages.",
        "`pip install` stops with `externally-managed-environment`.",
        "python pip virtualenv",
        r"externally-managed-environment",
        r"-m venv|\buv (?:venv|pip|run|add|tool)|pipx|virtualenv",
        failed=r"pip",
    ),
    _remedy(
        "remedies/django-settings",
        "Configure Django in stand-alone scripts",
        "Begin a stand-alone Django script with `settings.configure(…)` and `django.setup()`, or run it through the "
        "project's settings (`DJANGO_SETTINGS_MODULE`, `manage.py shell`).",
        "A script that imports Django models stops with `ImproperlyConfigured` or `Apps aren't loaded yet`.",
        "django python scripts",
        r"settings are not configured|DJANGO_SETTINGS_MODULE|AppRegistryNotReady|Apps aren't loaded yet",
        r"settings\.configure\(|DJANGO_SETTINGS_MODULE=|django\.setup\(\)|--settings",
        r"settings\.configure\(|django\.setup\(\)|DJANGO_SETTINGS_MODULE",
    ),
    _remedy(
        "remedies/django-app-label",
        "Name an app_label in script models",
        "Give a model that is defined in a stand-alone Django script an `app_label` in its `Meta` class.",
        "Django answers that a model `doesn't declare an explicit app_label`.",
        "django python models",
        r"doesn't declare an explicit app_label",
        r"app_label",
        r"app_label",
    ),
    _remedy(
        "remedies/django-importable-apps",
        "List only importable apps in settings",
        "In a stand-alone Django script, call `settings.configure()` without apps of the script's own: "
        "`INSTALLED_APPS` "
        "may hold only what can be imported, and a model of the script names an `app_label` instead.",
        "`django.setup()` stops with `ModuleNotFoundError` for an app that exists only in the script.",
        "django python scripts",
        r"(?s)django[/\\]apps[/\\](?:registry|config)\.py.{0,4000}ModuleNotFoundError: No module named",
        edit=r"settings\.configure\(|app_label",
    ),
    _remedy(
        "remedies/quote-yaml-colons",
        "Quote YAML values with colons",
        "Put a YAML value that holds a colon followed by a space in quotes.",
        "A YAML file or frontmatter is refused with `mapping values are not allowed`.",
        "yaml frontmatter quoting",
        r"mapping values are not allowed",
        edit=r":\s+[\"'>|]",
    ),
    _remedy(
        "remedies/npm-peer-versions",
        "Settle npm peer versions before installing",
        "Resolve the peer versions, or install with `npm install --legacy-peer-deps` where the project does so.",
        "npm stops with `ERESOLVE could not resolve`.",
        "npm dependencies javascript",
        r"ERESOLVE",
        r"--legacy-peer-deps|--force|overrides",
        failed=r"npm ",
    ),
    _remedy(
        "remedies/start-docker",
        "Start Docker before using it",
        "Start the Docker daemon (Docker Desktop, `colima start`, `systemctl start docker`) before using it.",
        "`Cannot connect to the Docker daemon`.",
        "docker setup",
        r"Cannot connect to the Docker daemon|docker daemon is not running",
        r"colima start|open -a Docker|systemctl start docker|dockerd",
    ),
)

REMEDIES: tuple[Remedy, ...] = GIT + SHELLS + LANGUAGES
