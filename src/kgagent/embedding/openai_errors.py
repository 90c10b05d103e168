"""What the exceptions of the `openai` SDK mean here."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgagent.embedding.retrying import TemporaryFault, asked_wait
from kgagent.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingResponseError,
    EmbeddingUnavailableError,
)

if TYPE_CHECKING:
    from openai import APIStatusError

_MAX_REASON_LENGTH = 300
_REQUEST_TIMEOUT = 408
_TOO_MANY_REQUESTS = 429
_SERVER_ERRORS = 500


@contextmanager
def translated(*, model: str, secret: str, timeout: float) -> Iterator[None]:
    """Raise what the SDK raises inside as an error of kgagent.

    Args:
        model: named in the text.
        secret: the API key; never in the text, even where the server repeats it.
        timeout: seconds, named in the text.

    Raises:
        TemporaryFault: 408, 429, 5xx, no connection or no answer in time: worth another try.
        ConfigurationError: the key is refused, or the model is unknown.
        EmbeddingUnavailableError: the account has no quota left.
        EmbeddingResponseError: the server refused the texts or answered something unreadable.
    """
    import openai

    try:
        yield
    except (TimeoutError, openai.APITimeoutError) as error:
        raise TemporaryFault(f"{model} did not answer within {timeout:g} s") from error
    except openai.APIConnectionError as error:
        reason = type(error.__cause__ or error).__name__
        raise TemporaryFault(f"{model} could not be reached ({reason})") from error
    except openai.APIStatusError as error:
        # The cause would carry the request with its headers, and the server's text as it came.
        raise _of_status(error, model, secret) from None
    except (openai.APIError, ValueError) as error:
        raise EmbeddingResponseError(f"{model} answered something that cannot be read") from error


def _of_status(
    error: "APIStatusError", model: str, secret: str
) -> TemporaryFault | ConfigurationError | EmbeddingError:
    status = error.status_code
    if status in {401, 403}:
        return ConfigurationError(
            f"The API key was refused for {model} (HTTP {status}); check OPENAI_API_KEY, OPENAI_BASE_URL "
            "and the key's permissions"
        )
    if status == 404:  # noqa: PLR2004
        return ConfigurationError(
            f"The server does not know {model} (HTTP 404); check KGAGENT_EMBEDDING_MODEL and OPENAI_BASE_URL"
        )
    if "insufficient_quota" in {error.code, error.type}:
        return EmbeddingUnavailableError(f"The OpenAI account has no quota left for {model}; add credit or another key")
    if status in {_REQUEST_TIMEOUT, _TOO_MANY_REQUESTS} or status >= _SERVER_ERRORS:
        return TemporaryFault(f"{model} answered HTTP {status}", asked_wait=asked_wait(error.response.headers))
    return EmbeddingResponseError(f"{model} refused the request (HTTP {status}): {_reason(error, secret)}")


def _reason(error: "APIStatusError", secret: str) -> str:
    body = error.body
    said = body.get("message") if isinstance(body, dict) else None
    return str(said or "no reason given").replace(secret, "[API key]")[:_MAX_REASON_LENGTH]
