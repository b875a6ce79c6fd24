"""Stands in for `gh pr`: keeps pull requests in a file, and writes down each call. Run as a program of its own.

The environment has `GH_FOLDER`, with `pulls.json` and `calls.jsonl`, and `GH_REMOTE`, the bare repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_FOLDER = Path(os.environ["GH_FOLDER"])
_OWN = "map(select(.isCrossRepository | not))"
_LISTED_UNASKED = 30  # pull requests, where no limit is given
_MOST_CHARACTERS = 65_536  # in the body of a pull request


def main(words: list[str]) -> None:
    """One call of `gh pr list`, `create` or `edit`."""
    with (_FOLDER / "calls.jsonl").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps(words) + "\n")
    assert words[0] == "pr", words
    action, number, options = words[1], words[2], words[2:] if words[2].startswith("--") else words[3:]
    given = dict(zip(options[::2], options[1::2], strict=True))
    pulls = json.loads((_FOLDER / "pulls.json").read_text(encoding="utf-8"))
    if action == "list":
        sys.stdout.write(_listed(pulls, given))
        return
    body = Path(given["--body-file"]).read_text(encoding="utf-8")
    assert len(body) < _MOST_CHARACTERS
    if action == "create":
        pulls.append({"number": len(pulls) + 1, "state": "open", "head": given["--head"], "base": given["--base"]})
        number = str(len(pulls))
    pull = pulls[int(number) - 1]
    assert pull["state"] == "open", pull
    assert not pull.get("isCrossRepository"), pull
    pull.update(title=given["--title"], body=body)
    (_FOLDER / "pulls.json").write_text(json.dumps(pulls), encoding="utf-8")


def _listed(pulls: list[dict[str, Any]], given: dict[str, str]) -> str:
    found = [each for each in pulls if each["head"] == given["--head"] and each["base"] == given["--base"]]
    found = [each for each in found if given["--state"] in ("all", each["state"])]
    assert given["--jq"].startswith(_OWN), "a stranger may have a branch of this name in a fork"
    found.sort(key=lambda each: not each.get("isCrossRepository"))  # strangers' may be the newest
    found = found[: int(given.get("--limit", _LISTED_UNASKED))]
    found = [each for each in found if not each.get("isCrossRepository")]
    if given["--json"] == "number,body,isCrossRepository":
        assert given["--jq"] == _OWN + ' | .[0] // empty | "\\(.number) \\(.body)"'
        return f"{found[0]['number']} {found[0]['body']}\n" if found else ""
    assert (given["--json"], given["--jq"]) == ("headRefOid,isCrossRepository", f"{_OWN} | .[].headRefOid")
    return "".join(f"{_head(each['head'])}\n" for each in found)


def _head(branch: str) -> str:
    command = ["git", "--git-dir", os.environ["GH_REMOTE"], "rev-parse", f"refs/heads/{branch}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main(sys.argv[1:])
