"""Which errors of a model are refusals."""

import pytest

from kgagent.ingestion.part_reader import is_refusal


class StatusError(Exception):
    """As the clients of OpenAI and Anthropic raise it."""

    def __init__(self, status: int) -> None:
        self.status_code = status


class GoogleError(Exception):
    code = 400


class AmazonError(Exception):
    response = {"ResponseMetadata": {"HTTPStatusCode": 400}}  # noqa: RUF012


def wrapped(error: Exception) -> Exception:
    outer = RuntimeError("the integration's own")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (StatusError(413), True),
        (wrapped(GoogleError()), True),
        (AmazonError(), True),
        (StatusError(429), False),
        (TimeoutError(), False),
    ],
)
def test_refusals_are_recognized_by_the_status(error: Exception, expected: bool) -> None:
    assert is_refusal(error) is expected
