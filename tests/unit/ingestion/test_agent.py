"""The loop in which a model reads: how it ends where someone ends it."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from kgagent.errors import StoreError
from kgagent.ingestion.agent import PartReader
from kgagent.ingestion.budget import Budget
from kgagent.ingestion.limits import Limits

if TYPE_CHECKING:
    from kgagent.ingestion.functions import Functions


async def test_a_cancellation_is_not_held_back_by_what_cannot_be_kept() -> None:
    asked = asyncio.Event()

    async def never(_: LanguageModelInput) -> AIMessage:
        asked.set()
        await asyncio.Event().wait()
        return AIMessage("")

    async def lost(_: Sequence[BaseMessage]) -> None:
        raise StoreError("the database is gone")

    none_called = cast("Functions", None)
    reader = PartReader(RunnableLambda(never), none_called, Budget(Limits(), overhead=0), 0, lambda _: None, keep=lost)
    reading = asyncio.ensure_future(reader.read([HumanMessage("Read this")], resumed=False))
    await asked.wait()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert reading.cancelled()
