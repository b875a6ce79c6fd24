"""What the tools of the different harnesses are for. Names differ; there are only a few purposes."""

from __future__ import annotations

import re
from typing import Literal

from agent_wiki.shell.simple_commands import ShellKind
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

Kind = Literal[ShellKind, "probe", "plan", "ask", "delegate", "skill", "service"]

EDIT_TOOLS = frozenset(
    {"edit", "write", "multiedit", "notebookedit", "create_file", "write_file", "replace", "apply_patch",
     "edit_file", "write_to_file", "replace_in_file", "insert", "update_file", "search_replace", "file_write",
     "str_replace", "create", "insert_text", "patch", "str_replace_editor", "str_replace_based_edit_tool",
     "apply_diff", "insert_content", "search_and_replace", "replace_file_content", "multi_replace_file_content",
     "writetofile", "applydiff", "insertcontent", "searchandreplace", "strreplace", "strreplacefile", "writefile",
     "applypatch", "replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file",
     "copilot_replacestring", "copilot_multireplacestring", "copilot_applypatch", "copilot_createfile",
     "copilot_insertedit", "create_new_file", "edit_existing_file", "multi_edit", "single_find_and_replace",
     "edit_notebook_file", "copilot_editnotebook", "file_editor"}
)  # fmt: skip
# They read files or folders, of agents that work in one.
FILE_TOOLS = frozenset(
    {"read", "view", "glob", "grep", "ls", "read_file", "read_many_files", "view_file", "list_directory", "list_dir",
     "notebookread", "file_glob_search", "codebase_search", "search_file_content", "grep_search", "search_dir",
     "readfile"}
)  # fmt: skip
_LOOK_TOOLS = FILE_TOOLS | frozenset(
    {"session_store_sql",
     "open", "search", "search_files", "find_file", "search_file", "websearch", "webfetch", "web_search",
     "google_web_search", "web_fetch", "fetch", "toolsearch", "bashoutput", "taskoutput", "goto", "scroll_up",
     "scroll_down", "taskget", "tasklist", "wait_agent", "wait", "write_stdin", "browser", "view_image", "killshell",
     "killbash", "close_agent", "taskstop", "stop_bash", "read_bash", "write_bash", "list_bash", "stop_powershell",
     "list_powershell", "read_powershell", "write_powershell", "lsp", "resolve", "list_mcp_resources",
     "read_url_content", "sourcegraph", "job_output", "job_kill", "rg", "await", "awaitshell", "manage_task",
     "manage_subagents", "fetchurl", "sessions_history", "session_status", "view_diff", "view_repo_map", "codebase",
     "view_subdirectory", "checkbackgroundjob", "monitor", "subagent_wait", "take_snapshot", "take_screenshot"}
)  # fmt: skip
_PLAN_TOOLS = frozenset(
    {"todowrite", "update_plan", "taskcreate", "taskupdate", "exitplanmode", "enterplanmode", "think", "submit",
     "finish", "update_topic", "update_todo_list", "switch_mode", "set_phase", "mark_chapter", "writetodos",
     "write_todos", "todoread", "save_memory", "submit_plan", "report_intent", "attempt_completion",
     "attemptcompletion", "todos", "todo_write", "settodolist", "task_tracker", "create_plan", "exit_plan_mode",
     "enter_plan_mode", "task_complete", "mcp_sequential_thinking_sequentialthinking", "sequentialthinking",
     "manage_todo_list", "todo", "structuredoutput"}
)  # fmt: skip
_ASK_TOOLS = frozenset(
    {"askuserquestion", "request_user_input", "ask_user", "ask_followup_question", "askfollowupquestion",
     "ask_question", "askquestion", "ask_user_question", "question"}
)  # fmt: skip
_DELEGATE_TOOLS = frozenset(
    {"task", "agent", "spawn_agent", "workflow", "sendmessage", "send_input", "delegate_task", "runsubagent",
     "subagent", "invoke_subagent", "browser_subagent", "delegate_to_agent", "invoke_agent", "sessions_spawn"}
)  # fmt: skip
_LOOK_VERB = regex(
    r"(?:^|__|[._-])(?:get|list|search|find|lookup|read|fetch|show|check|query|describe|calculate|resolve|"
    r"count|verify|detect)(?=[_-]|[A-Z]|$)"
)
# A browser that a test framework or an agent drives: nothing on the page is changed.
_LOOKS_AT_PAGE = regex(r"(?:^|_)browser_(?:snapshot|take_screenshot|console_messages|network_requests|wait_for|hover)$")
# What the editor's language server reports about a file: a lint, a build and a type check in one.
_DIAGNOSTIC_TOOLS = frozenset(
    {"getdiagnostics", "get_diagnostics", "diagnostics", "get_errors", "read_lints", "readlints", "problems"}
)
TEST_TOOLS = frozenset({"run_tests", "run_test", "runtests"})
_TODO_TABLE = regex(r"\b(?:FROM|INTO|UPDATE|TABLE) (?:IF NOT EXISTS )?(?:todos|todo_deps)\b", re.IGNORECASE)
_SHIP_TOOLS = frozenset({"push_files", "create_pull_request", "merge_pull_request", "create_merge_request"})
_RUN_TOOLS = frozenset({"execute_code", "python", "ipython", "code_interpreter", "run_code", "execute_ipython_cell"})
_SAYS_LITTLE = regex(r"\s*(?:#|//|import\b|from \S+ import\b|(?:def|class|with|try|if|for|while)\b|\W*$)")
_MOST_CODE = 8_000  # characters
# A word for many things: with this argument it is a timer of Antigravity's, several reads of Claude Code's, and a
# command of OpenClaw's that still runs.
_LOOKS_WITH = {"schedule": "DurationSeconds", "batch": "invocations", "process": "sessionId"}
_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "file_editor"})
_EDITOR_COMMANDS: dict[str, Kind] = {"view": "look", "undo_edit": "revert"}

# Tools whose results strangers wrote: the web, mail, and other people's servers.
_OF_STRANGERS = regex(
    r"mcp_|web__|web[._]|.*(?:^|[_.-])(?:web_?(?:search|fetch|page)|fetch|browser?|https?|crawl|scrape|wikipedia)(?:[_.-]|$)"
    r"|(?:google|bing|brave|tavily|exa|firecrawl|playwright|puppeteer|gmail|outlook|imap|slack|discord)(?:[_.-]|$)"
    r"|.*(?:read|open|visit|view|get|fetch|navigate|load)_(?:the_)?(?:url|web|link)"
    r"|.*(?:read|get|list|search|fetch|show|view|check)_(?:\w{1,20}_)?(?:e?mails?|inbox|mailbox)(?:_|$)"
    r"|(?:use|access|read)_mcp_|search_(?:the_)?(?:web|internet)|fetch_?url|.*browser_use|use_browser"
)
_INNER_CAPITAL = regex(r"(?<=[a-z0-9])(?=[A-Z])")

_PERMISSIONS = ("sandbox_permissions", "with_escalated_permissions", "dangerouslyDisableSandbox")


def is_escalated(call: Call) -> bool:
    """Whether a call of a shell asks to leave the sandbox."""
    return any(call.arguments.get(name) in (True, "require_escalated", "danger-full-access") for name in _PERMISSIONS)


def line_of_code(call: Call) -> str:
    """Of code that a call runs, the first line in which something is called, in no block; empty for any other call."""
    code = call.arguments.get("code") if bare_tool_name(call.name).lower() in _RUN_TOOLS else None
    lines = code[:_MOST_CODE].splitlines() if isinstance(code, str) else []
    telling = [line for line in lines if line.strip() and not _SAYS_LITTLE.match(line)]
    calling = [line for line in telling if "(" in line]
    outside = [line for line in calling if line[:1] not in " \t"]
    return next(iter([*outside, *calling, *telling]), "").strip()


def works_on_files(call: Call) -> bool:
    """Whether it is a call of a shell, or of a tool that reads files."""
    return call.command() is not None or bare_tool_name(call.name).lower() in FILE_TOOLS


def bare_tool_name(name: str) -> str:
    """A tool's own name, without the server or the namespace that offers it."""
    return name.rpartition("__")[2].rpartition(".")[2] or name


def is_tool_of_strangers(name: str) -> bool:
    """Whether a tool, by its name, shows what strangers wrote: the web, mail, other people's servers."""
    return _OF_STRANGERS.match(_INNER_CAPITAL.sub("_", name).lower()) is not None


def tool_kind(call: Call) -> Kind:
    """What a tool other than a shell is for; anything unknown is a service of the application at hand."""
    name = bare_tool_name(call.name).lower()
    if name in _EDITORS:
        return _EDITOR_COMMANDS.get(str(call.arguments.get("command")), "edit")
    if name == "sql" and _TODO_TABLE.search(str(call.arguments.get("query"))[:_MOST_CODE]):
        return "plan"  # in which Copilot keeps its list, unlike an application's own database
    if name in _LOOKS_WITH and _LOOKS_WITH[name] in call.arguments:
        return "look"
    return "look" if call.gives_keys() else kind_of_name(call.name)


def kind_of_name(tool: str) -> Kind:
    """The same by the tool's name alone."""
    name = bare_tool_name(tool).lower()
    groups: tuple[tuple[Kind, frozenset[str]], ...] = (
        ("edit", EDIT_TOOLS),
        ("look", _LOOK_TOOLS),
        ("plan", _PLAN_TOOLS),
        ("ask", _ASK_TOOLS),
        ("delegate", _DELEGATE_TOOLS),
        ("run", _RUN_TOOLS),
        ("ship", _SHIP_TOOLS),
        ("check", _DIAGNOSTIC_TOOLS | TEST_TOOLS),
        ("skill", frozenset({"skill"})),
    )
    for kind, names in groups:
        if name in names:
            return kind
    is_look = (
        _LOOK_VERB.search(bare_tool_name(tool))
        or _LOOKS_AT_PAGE.search(name)
        or tool.lower().startswith(("web__", "web."))
    )
    return "look" if is_look else "service"
