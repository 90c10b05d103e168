"""Cancellation of the loop in which a model reads a part."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from kgagent.errors import StoreError
from kgagent.ingestion.limits import Limits, RunUsage
from kgagent.ingestion.part_reader import PartReader

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
