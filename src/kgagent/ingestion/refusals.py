"""Recognizes when a provider refuses a request, and whether it would refuse the same text again."""

from collections.abc import Iterator
from typing import Literal

from langchain_core.exceptions import LangChainException

from kgagent.errors import KgAgentError

REFUSAL_STATUSES = frozenset({400, 413, 422})
"""HTTP statuses that blame the request itself, not the key, the load or the server."""

PAYLOAD_TOO_LARGE = 413

CONTENT_MARKERS = (
    *("content_filter", "content filter", "content_policy", "content policy", "content management policy"),
    *("usage policy", "usage policies", "invalid_prompt"),
    *("context_length", "context length", "context window", "string_above_max_length", "request_too_large"),
    *("prompt is too long", "input is too long", "input token count"),
)
"""Lower-case fragments of the errors with which OpenAI, Azure, Anthropic, Google and Amazon refuse a text."""


Refusal = Literal["content", "request"]
"""`content`: the same text would be refused again. `request`: something else in the request may be the cause."""


class ModelRefusedError(KgAgentError):
    """The provider refused a request; the message is the reason. Internal: it ends up in a report."""

    def __init__(self, reason: str, refusal: Refusal) -> None:
        super().__init__(reason)
        self.refusal = refusal


def find_refusal(error: BaseException) -> Refusal | None:
    """Classify an error of a chat model; None if it is not a refusal.

    Providers share neither exception classes nor wording, so status codes and fragments of the message decide.
    """
    chain = tuple(_cause_chain(error))
    if any(_is_context_overflow(cause) for cause in chain):
        return "content"
    statuses = {_http_status(cause) for cause in chain} & REFUSAL_STATUSES
    if not statuses:
        return None
    message = " ".join(f"{cause} {getattr(cause, 'code', '')}" for cause in chain).lower()
    is_content = PAYLOAD_TOO_LARGE in statuses or any(marker in message for marker in CONTENT_MARKERS)
    return "content" if is_content else "request"


def _cause_chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its causes; LangChain integrations wrap the provider's errors."""
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        yield error
        error = error.__cause__


def _is_context_overflow(error: BaseException) -> bool:
    # The oldest supported LangChain does not have this class.
    return isinstance(error, LangChainException) and any(
        kind.__name__ == "ContextOverflowError" for kind in type(error).__mro__
    )


def _http_status(error: BaseException) -> int | None:
    """The HTTP status, wherever the provider's client stores it."""
    for value in (getattr(error, "status_code", None), getattr(error, "code", None)):
        if isinstance(value, int):
            return value
    response = getattr(error, "response", None)
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None
    return status if isinstance(status, int) else None
