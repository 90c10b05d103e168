"""The loop in which a model reads a part: its cancellation, and which errors of a model are refusals."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import pytest
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from kgagent.errors import StoreError
from kgagent.ingestion.limits import Limits, RunUsage
from kgagent.ingestion.part_reader import PartReader, is_refusal

if TYPE_CHECKING:
    from kgagent.ingestion.model_tools import ModelTools


async def test_cancellation_proceeds_when_messages_cannot_be_saved() -> None:
    asked = asyncio.Event()

    async def never(_: LanguageModelInput) -> AIMessage:
        asked.set()
        await asyncio.Event().wait()
        return AIMessage("")

    async def lost(_: Sequence[BaseMessage]) -> None:
        raise StoreError("the database is gone")

    unused = cast("ModelTools", None)
    reader = PartReader(
        RunnableLambda(never), unused, RunUsage(Limits(), tokens_per_request=0), 0, lambda _: None, save=lost
    )
    reading = asyncio.ensure_future(reader.read([HumanMessage("Read this")], resumed=False))
    await asked.wait()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert reading.cancelled()


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
