"""Classification of chat model errors as refusals."""

import pytest
from langchain_core.exceptions import LangChainException

from kgagent.ingestion.refusals import Refusal, find_refusal


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
        (answered(400, "The response was filtered", "content_filter"), "content"),
        (answered(400, "This model's maximum context length is 8192 tokens"), "content"),
        (answered(413), "content"),
        (ContextOverflowError("too much"), "content"),
        (wrapped(GoogleError("The input token count exceeds the maximum")), "content"),
        (AmazonError("ValidationException: Input is too long for requested model."), "content"),
        (answered(400, "Unsupported parameter: temperature"), "request"),
        (answered(429, "content filter"), None),
        (TimeoutError("context length"), None),
    ],
)
def test_refusal_is_recognized_by_status_and_message(error: Exception, refusal: Refusal | None) -> None:
    assert find_refusal(error) == refusal


def test_circular_causes_are_visited_once() -> None:
    first, second = RuntimeError("first"), RuntimeError("second")
    first.__cause__, second.__cause__ = second, first
    assert find_refusal(first) is None
