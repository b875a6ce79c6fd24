"""Who serves the models: Anthropic or a server of one's own, Amazon Bedrock, or Google Vertex AI.

The `anthropic` client has a class for each; they differ in the login, in the names of models, and in what they do not
offer: neither of the others takes batches, and Bedrock counts no tokens.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from agent_wiki.asking.options import AskingOptions
from agent_wiki.errors import RunError, UsageError
from agent_wiki.trajectory.lazily import dataclass

if TYPE_CHECKING:
    from anthropic import Anthropic

ANTHROPIC, BEDROCK, VERTEX = "anthropic", "bedrock", "vertex"
_PROVIDERS = (ANTHROPIC, BEDROCK, VERTEX)
_CALLED = {BEDROCK: "Amazon Bedrock", VERTEX: "Vertex AI"}
_REGION_VARIABLES = {BEDROCK: ("AWS_REGION", "AWS_DEFAULT_REGION"), VERTEX: ("CLOUD_ML_REGION",)}


@dataclass(frozen=True, slots=True)
class Provider:
    """Who is asked. `region` and `project` are "" where the environment or the login says them."""

    name: str = ANTHROPIC
    region: str = ""
    project: str = ""

    @property
    def is_other(self) -> bool:
        """True for one with a login, prices and limits that are not Anthropic's."""
        return self.name != ANTHROPIC

    @property
    def endpoint(self) -> str:
        """What is asked, for messages and for what a journal knows by it; "" for Anthropic, which has an address."""
        if not self.is_other:
            return ""
        found = (os.environ.get(name, "") for name in _REGION_VARIABLES[self.name])
        region = self.region or next(filter(None, found), "")
        return f"{_CALLED[self.name]} ({region or 'region of the profile'})"

    def check_model(self, model: str) -> None:
        """Raises `UsageError` for a name that cannot be one there."""
        if self.name == BEDROCK and "." not in model and ":" not in model:
            raise UsageError(
                f"--provider {BEDROCK}: {model} is no model id there, such as anthropic.{model}; "
                "name it with --model or under `stages:` of models.yaml in the wiki"
            )

    def client(self, base_url: str | None, retries: int) -> Anthropic:
        """A client with the login of the environment. Raises `RunError` without a region or the extra."""
        import anthropic

        try:
            if self.name == BEDROCK:
                made: object = anthropic.AnthropicBedrock(
                    aws_region=self.region or None, base_url=base_url, max_retries=retries
                )
            else:
                made = anthropic.AnthropicVertex(
                    region=self.region or anthropic.NOT_GIVEN,
                    project_id=self.project or anthropic.NOT_GIVEN,
                    base_url=base_url,
                    max_retries=retries,
                )
        except (ValueError, ImportError) as error:
            variable = _REGION_VARIABLES[self.name][0]
            raise RunError(f"{_CALLED[self.name]}: {error}; give --region, or set {variable}") from error
        return cast("Anthropic", made)  # what is used of it they have in common

    def login_failed(self, error: Exception) -> RunError:
        """The line for a login that is not there, or that its library cannot use."""
        reason = " ".join(str(error).split())[:200]
        return RunError(f"{self.endpoint}: no login ({reason}); is agent-wiki[{self.name}] installed, and are you in?")


def login_errors() -> tuple[type[Exception], ...]:
    """What the libraries of Amazon and Google raise for a login; those that are not installed raise nothing."""
    found: list[type[Exception]] = [ImportError, RuntimeError, ValueError]
    try:
        from botocore.exceptions import BotoCoreError

        found.append(BotoCoreError)
    except ImportError:
        pass
    try:
        from google.auth.exceptions import GoogleAuthError

        found.append(GoogleAuthError)
    except ImportError:
        pass
    return tuple(found)


def provider_of(asking: AskingOptions) -> Provider:
    """Who is asked, by the options. Raises `UsageError` for options that do not go together."""
    if asking.provider not in _PROVIDERS:
        raise UsageError(f"--provider {asking.provider}: one of {', '.join(_PROVIDERS)}")
    provider = Provider(asking.provider, asking.region, asking.project)
    if provider.is_other and asking.is_batched:
        raise UsageError(f"--batch: {_CALLED[provider.name]} takes no batches of this kind; leave it out")
    if asking.region and not provider.is_other:
        raise UsageError(f"--region is for --provider {BEDROCK} or {VERTEX}")
    if asking.project and provider.name != VERTEX:
        raise UsageError(f"--project is for --provider {VERTEX}")
    return provider
