"""What it means that a provider refuses a request: whether it would refuse the same text again."""

from collections.abc import Iterator
from typing import Literal

from langchain_core.exceptions import LangChainException

from kgagent.errors import KgAgentError

REFUSING = frozenset({400, 413, 422})
"""HTTP statuses that say that the request itself is at fault, and not the key, the load or the server."""

TOO_LARGE = 413

OF_THE_TEXT = (
    *("content_filter", "content filter", "content_policy", "content policy", "content management policy"),
    *("usage policy", "usage policies", "invalid_prompt"),
    *("context_length", "context length", "context window", "string_above_max_length", "request_too_large"),
    *("prompt is too long", "input is too long", "input token count"),
)
"""What OpenAI, Azure, Anthropic, Google and Amazon say where it is the text that they refuse, in small letters."""


Refusal = Literal["of_the_text", "of_the_request"]
"""Whether the same text would be refused again, or it may be for something else that the request held."""


class RefusedError(KgAgentError):
    """A provider refused a request; the text is the reason. Internal: a report says it, and no caller sees it."""

    def __init__(self, reason: str, refusal: Refusal) -> None:
        super().__init__(reason)
        self.refusal = refusal


def refusal_in(error: BaseException) -> Refusal | None:
    """Find out whether an error of a chat model is a refusal; providers share neither classes nor words for it."""
    chain = tuple(_chain(error))
    if any(_is_overflow(one) for one in chain):
        return "of_the_text"
    statuses = {_status(one) for one in chain} & REFUSING
    if not statuses:
        return None
    said = " ".join(f"{one} {getattr(one, 'code', '')}" for one in chain).lower()
    is_of_text = TOO_LARGE in statuses or any(mark in said for mark in OF_THE_TEXT)
    return "of_the_text" if is_of_text else "of_the_request"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it was raised from; integrations wrap those of the provider."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _is_overflow(error: BaseException) -> bool:
    # The class is younger than the oldest LangChain that serves.
    return isinstance(error, LangChainException) and any(
        kind.__name__ == "ContextOverflowError" for kind in type(error).__mro__
    )


def _status(error: BaseException) -> int | None:
    """The HTTP status, where the providers' clients keep it."""
    for place in (getattr(error, "status_code", None), getattr(error, "code", None)):
        if isinstance(place, int):
            return place
    response = getattr(error, "response", None)
    told = response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None
    return told if isinstance(told, int) else None
