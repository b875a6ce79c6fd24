"""What a store or its client said, as one line: why a request failed, or which credentials are missing."""

from __future__ import annotations

import re

from agent_wiki.redaction.redact import redact_text

_ANSWER = re.compile(r"<\?xml.{0,400}?<Code>([^<]{1,100})</Code>(?:\s*<Message>([^<]{0,300})</Message>)?.*")
_WITHOUT_CREDENTIALS = {
    # what a client says that found none → what it would have found
    re.compile(r"//[^/\s]+/latest/(?:api/token|meta-data/iam/)"): (
        "neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, nor AWS_PROFILE, "
        "nor a web identity, nor a role of the machine"
    ),
    re.compile(r"//[^/\s]+/computeMetadata/|service account file"): (
        "neither a key in the file that GOOGLE_APPLICATION_CREDENTIALS names, nor an account of the machine"
    ),
    re.compile(r"Account must be specified"): "no AZURE_STORAGE_ACCOUNT_NAME",
    re.compile(r"//[^/\s]+/metadata/identity/"): (
        "neither AZURE_STORAGE_ACCOUNT_KEY, nor AZURE_STORAGE_SAS_TOKEN, nor an identity of the machine"
    ),
}
_TOOK = re.compile(r" in \d+(?:\.\d+)?[nµm]?s\b")  # it is another each night
_LAYERS = re.compile(r"^.{1,2000}?(?=Error performing [A-Z]+ )")  # of the client: each says that it failed, and where
_QUERY = re.compile(r"\?[^\s\"']+")  # which can be a key to the store
_MOST_SAID = 400


def reason_of(error: Exception) -> str:
    """What a store said, in one line: without the client's own details, and without anything secret.

    Where the client found no credentials that comes first, for it speaks of where it looked last.
    """
    said = " ".join(str(error).partition("\n\nDebug source")[0].split())
    said = _TOOK.sub("", _ANSWER.sub(lambda found: ": ".join(filter(None, found.groups())), said))
    said = redact_text(_QUERY.sub("", _LAYERS.sub("", said)))[0].rstrip(": ")
    lacking = next((what for pattern, what in _WITHOUT_CREDENTIALS.items() if pattern.search(said)), "")
    said = said if len(said) <= _MOST_SAID else f"{said[:_MOST_SAID]}…"
    return f"no credentials: there is {lacking} (docs/nightly.md, Credentials): {said}" if lacking else said
