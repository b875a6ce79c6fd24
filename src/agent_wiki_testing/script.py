"""The JSON file that tells a test server run by hand what to play, to answer and to spoil.

{"endpoint": {"has_batches": false}, "seed": 1,
 "answers": [{"stage": "summarize", "number": 1, "answer": {"arcs": []}}],
 "faults": [{"kind": "rate-limit", "requests": [1, 2], "seconds": 0.1}]}
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_wiki.errors import UsageError
from agent_wiki_testing.answers import ScriptedAnswer
from agent_wiki_testing.endpoint import Endpoint
from agent_wiki_testing.faults import Fault


class Script(BaseModel):
    """All of it is optional; names and meanings are those of `Endpoint`, `ScriptedAnswer` and `Fault`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: Endpoint | None = None
    answers: tuple[ScriptedAnswer, ...] = ()
    faults: tuple[Fault, ...] = ()
    seed: int = 0

    def endpoint_or(self, otherwise: Endpoint) -> Endpoint:
        """What the script says of the endpoint, laid over `otherwise`."""
        if self.endpoint is None:
            return otherwise
        return otherwise.model_copy(update=self.endpoint.model_dump(exclude_unset=True))


def read_script(path: Path) -> Script:
    """The script in a file. Raises `UsageError` naming the file, the field and what is wrong with it."""
    try:
        return Script.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(each) for each in first["loc"]) or "script"
        raise UsageError(f"{path}: {place}: {first['msg']}") from error
