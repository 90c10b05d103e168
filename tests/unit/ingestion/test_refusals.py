"""Which errors of chat models are refusals, and of what."""

import pytest
from langchain_core.exceptions import LangChainException

from kgagent.ingestion.refusals import Refusal, refusal_in


class StatusError(Exception):
    """As the clients of OpenAI and Anthropic raise it."""

    def __init__(self, status: int, message: str, code: str | None) -> None:
        super().__init__(f"Error code: {status} - {message}")
        self.status_code = status
        self.code = code


def answered(status: int, message: str = "no", code: str | None = None) -> StatusError:
    return StatusError(status, message, code)


class ContextOverflowError(LangChainException):
    """As LangChain calls it, in the versions that have it."""


class GoogleError(Exception):
    code = 400


class AmazonError(Exception):
    response = {"ResponseMetadata": {"HTTPStatusCode": 400}}  # noqa: RUF012


def wrapped(error: Exception) -> Exception:
    outer = RuntimeError("the integration's own")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        (answered(400, "The response was filtered", "content_filter"), "of_the_text"),
        (answered(400, "This model's maximum context length is 8192 tokens"), "of_the_text"),
        (answered(400, "Prompt is too long: 210000 tokens > 200000 maximum"), "of_the_text"),
        (answered(413), "of_the_text"),
        (ContextOverflowError("too much"), "of_the_text"),
        (wrapped(GoogleError("The input token count exceeds the maximum")), "of_the_text"),
        (AmazonError("ValidationException: Input is too long for requested model."), "of_the_text"),
        (answered(400, "Unsupported parameter: temperature"), "of_the_request"),
        (answered(422), "of_the_request"),
        (wrapped(AmazonError("ValidationException")), "of_the_request"),
        (answered(401, "content filter"), None),
        (answered(429, "content filter"), None),
        (answered(500), None),
        (TimeoutError("context length"), None),
    ],
)
def test_a_refusal_is_known_by_status_and_words(error: Exception, refusal: Refusal | None) -> None:
    assert refusal_in(error) == refusal


def test_errors_that_were_raised_from_each_other_are_looked_at_once() -> None:
    first, second = RuntimeError("first"), RuntimeError("second")
    first.__cause__, second.__cause__ = second, first
    assert refusal_in(first) is None
