"""What cannot be migrated is named and does not stop the rest."""

from collections.abc import Sequence

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedding
from kgagent.errors import EmbeddingResponseError
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
from tests.support.stored import cypher, relationships_of


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (
            "SET r.attitude = 7",
            "it has an attitude or proximity that is neither 1 to 5 nor a word of the type",
        ),
        (
            "REMOVE b.user_id",
            "it has a node without a label of the ontology, entity_key or user_id",
        ),
    ],
)
async def test_a_bad_relationship_is_named_and_left_while_the_others_are_migrated(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, damage: str, why: str
) -> None:
    await many_old(graph, user_id, 4)
    await cypher(
        graph,
        "MATCH (a:Person {entity_key: $user + '-3'})-[r]->(b:Person {entity_key: $user + '-4'}) "
        + damage,
        user=user_id,
    )
    report = await run(graph, user_id)
    assert report.relationships.skipped == 1
    [skipped] = [skipped for skipped in report.skipped if "has_relationship_with" in skipped.what]
    assert skipped.why == why
    good = [r for r in await relationships_of(graph, user_id) if r["expected"] != "Old story 4"]
    assert len(good) == 3
    for stored in good:
        await assert_migrated(stored, embedder)


async def test_one_of_two_duplicates_is_migrated_and_the_other_named_by_every_run(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    await many_old(graph, user_id, 2)
    await cypher(
        graph,
        "MATCH (a:Person {entity_key: $user + '-0'})-[r]->(b:Person {entity_key: $user + '-1'}) "
        "CREATE (b)-[twin:has_relationship_with]->(a) SET twin = properties(r)",
        user=user_id,
    )
    for migrated in (2, 0):
        report = await run(graph, user_id, batch_size=1)
        assert (report.relationships.embedded, report.relationships.skipped) == (migrated, 1)
        assert [skipped.why for skipped in report.skipped] == [
            "it has another relationship of the same type between the same nodes, which the tools "
            "use instead"
        ]
    twins = [
        stored
        for stored in await relationships_of(graph, user_id)
        if stored["expected"] == "Old story 1"
    ]
    assert sorted(map(is_in_present_form, twins)) == [False, True]
    assert sorted(map(is_untouched, twins)) == [False, True]
    [migrated_one] = [stored for stored in twins if is_in_present_form(stored)]
    await assert_migrated(migrated_one, embedder)


@pytest.mark.parametrize("batch_size", [1, 4])
async def test_a_text_that_the_model_refuses_is_named_and_the_rest_of_its_batch_is_migrated(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, batch_size: int
) -> None:
    await many_old(graph, user_id, 9)
    refusing = Refusing("Old story 5")
    stopping = with_embedder(graph, refusing)
    report = await run(stopping, user_id, batch_size=batch_size)
    assert (report.relationships.embedded, report.relationships.skipped) == (8, 1)
    [skipped] = report.skipped
    assert skipped.why == "too long: Old story 5"
    for stored in await relationships_of(graph, user_id):
        if stored["expected"] == "Old story 5":
            assert is_untouched(stored)
        else:
            await assert_migrated(stored, embedder)


async def test_a_model_that_refuses_everything_stops_the_migration_at_once(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await many_old(graph, user_id, 9)
    refusing = Refusing("")
    stopping = with_embedder(graph, refusing)
    with pytest.raises(MigrationStoppedError, match="too long"):
        await run(stopping, user_id)
    assert refusing.calls == 2
    assert all(map(is_untouched, await relationships_of(graph, user_id)))


class Refusing(WatchedEmbedder):
    """Refuses each request that holds a text."""

    def __init__(self, refused: str) -> None:
        super().__init__()
        self._refused = refused

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        answer = await super().embed(texts)
        if any(self._refused in text for text in texts):
            raise EmbeddingResponseError(f"too long: {self._refused}")
        return answer
