"""A migration that is ended in the middle leaves nothing half written, and the next one goes on."""

from collections.abc import Sequence

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedding
from kgagent.errors import EmbeddingUnavailableError
from kgagent.upkeep import rewrite
from kgagent.upkeep.migration_report import MigrationStoppedError
from tests.integration.upkeep.old_graph import (
    assert_migrated,
    is_in_present_form,
    is_untouched,
    many_old,
    run,
    with_embedder,
)
from tests.support.embedders import WatchedEmbedder
from tests.support.stored import relationships_of


class FailsLater(WatchedEmbedder):
    """Cannot be reached after some requests."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self._left -= 1
        if self._left < 0:
            raise EmbeddingUnavailableError("The model is away")
        return await super().embed(texts)


async def assert_rest_is_migrated_next(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    """Check that each relationship is wholly old or wholly new, and that the next run embeds the
    old ones alone.
    """
    found = await relationships_of(graph, user_id)
    assert all(is_in_present_form(stored) != is_untouched(stored) for stored in found)
    for stored in filter(is_in_present_form, found):
        await assert_migrated(stored, embedder)
    report = await run(graph, user_id)
    assert report.relationships.embedded == sum(map(is_untouched, found))
    for stored in await relationships_of(graph, user_id):
        await assert_migrated(stored, embedder)


async def test_an_embedder_that_fails_stops_the_migration_and_the_error_reports_progress(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewrite, "CONCURRENT_BATCHES", 1)
    await many_old(graph, user_id, 59)
    failing = FailsLater(after=8)
    stopping = with_embedder(graph, failing)
    with pytest.raises(MigrationStoppedError) as stopped:
        await run(stopping, user_id, batch_size=10)
    assert str(stopped.value) == (
        "The model is away. The migration stopped after 80 records, which stay migrated. "
        "Run it again to migrate the rest"
    )
    assert stopped.value.report.nodes.embedded == 60
    assert stopped.value.report.relationships.embedded == 20
    await assert_rest_is_migrated_next(graph, user_id, embedder)
