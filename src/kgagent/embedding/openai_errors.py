"""Translates the exceptions of the `openai` SDK."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgagent.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingResponseError,
    EmbeddingUnavailableError,
)

if TYPE_CHECKING:
    from openai import APIStatusError

_MAX_REASON_LENGTH = 300
_MAX_WAIT_LENGTH = 40
_TEMPORARY = frozenset({408, 409, 429})
_SERVER_ERRORS = 500


@contextmanager
def translate_errors(*, model: str, secret: str, timeout: float) -> Iterator[None]:
    """Translate exceptions of the SDK that are raised inside the block.

    Args:
        model: name of the model, for the message.
        secret: the API key, which is removed from the message if the server repeats it.
        timeout: seconds, for the message.

    Raises:
        EmbeddingUnavailableError: all attempts ended with HTTP 408, 409, 429 or 5xx, no connection, or a timeout; or
            the account has no quota left.
        ConfigurationError: the key is rejected, or the model is unknown.
        EmbeddingResponseError: the server rejected the texts, or its response is invalid.
    """
    import openai

    try:
        yield
    except openai.APITimeoutError as error:
        raise EmbeddingUnavailableError(f"{model} did not respond within {timeout:g} s") from error
    except openai.APIConnectionError as error:
        reason = type(error.__cause__ or error).__name__
        raise EmbeddingUnavailableError(f"{model} could not be reached ({reason})") from error
    except openai.APIStatusError as error:
        # The cause would expose the headers of the request and the unfiltered message of the server.
        raise _of_status(error, model, secret) from None
    except (openai.APIError, ValueError) as error:
        raise EmbeddingResponseError(f"{model} returned an invalid response") from error


def _of_status(error: "APIStatusError", model: str, secret: str) -> ConfigurationError | EmbeddingError:
    status = error.status_code
    if status in {401, 403}:
        return ConfigurationError(
            f"The API key was rejected for {model} (HTTP {status}); check OPENAI_API_KEY, OPENAI_BASE_URL "
            "and the key's permissions"
        )
    if status == 404:  # noqa: PLR2004
        return ConfigurationError(
            f"The server does not know {model} (HTTP 404); check KGAGENT_EMBEDDING_MODEL and OPENAI_BASE_URL"
        )
    if "insufficient_quota" in {error.code, error.type}:
        return EmbeddingUnavailableError(f"The OpenAI account has no quota left for {model}; add credit or another key")
    if status in _TEMPORARY or status >= _SERVER_ERRORS:
        wait = error.response.headers.get("retry-after")
        asked = f" and asks to wait (Retry-After: {wait[:_MAX_WAIT_LENGTH]})" if wait else ""
        return EmbeddingUnavailableError(f"{model} returned HTTP {status}{asked}")
    return EmbeddingResponseError(f"{model} rejected the request (HTTP {status}): {_reason(error, secret)}")


def _reason(error: "APIStatusError", secret: str) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or "no reason given").replace(secret, "[API key]")[:_MAX_REASON_LENGTH]
