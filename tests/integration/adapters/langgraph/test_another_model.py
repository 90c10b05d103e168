"""Items whose texts another model embedded: doctor reports them, and the migration embeds them
again.
"""

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.langgraph import KnowledgeGraphStore
from tests.support.embedders import WatchedEmbedder
from tests.support.stored import cypher


async def test_texts_of_another_model_are_found_again_after_a_migration(
    store: KnowledgeGraphStore, settings: Settings, user_id: str
) -> None:
    for number in range(5):
        await store.aput(
            ("m",), str(number), {"a": f"boat {number}", "b": "kite"}, index=["a", "b"]
        )
    await store.aput(("m",), "unembedded", {"a": "boat"}, index=False)
    newer = WatchedEmbedder(model="newer")
    async with KnowledgeGraph.connect(
        settings=settings, embedder=newer, ensure_schema=False
    ) as changed:
        other = KnowledgeGraphStore(changed, user_id=user_id)
        assert {item.score for item in await other.asearch((), query="boat 3")} == {None}
        diagnosis = await changed.diagnose(user_id=user_id)
        [finding] = [one for one in diagnosis.findings if "stored item" in one.message]
        assert finding.severity == "error"
        assert finding.message.startswith(
            "10 texts of 6 stored items have an embedding of model 'blake2b-words'"
        )
        assert finding.fix.startswith(f"kgagent migrate --user {user_id} embeds them again")
        dry = await changed.migrate(user_id=user_id, dry_run=True)
        assert (dry.store_texts, newer.stored) == (10, [])
        report = await changed.migrate(user_id=user_id, batch_size=4)
        assert (report.store_texts, [len(texts) for texts in newer.stored]) == (10, [4, 4, 2])
        assert "10 texts of stored items: embedded" in str(report)
        best, *_ = await other.asearch((), query="boat 3")
        assert best.key == "3"
        assert best.score == pytest.approx(1.0)
        after = await changed.diagnose(user_id=user_id)
        assert not [one for one in after.findings if "stored item" in one.message]
        assert after.facts.store_items == 6
        assert (await changed.migrate(user_id=user_id)).store_texts == 0


async def test_a_text_without_a_vector_is_reported_and_embedded(
    store: KnowledgeGraphStore, graph: KnowledgeGraph, user_id: str
) -> None:
    await store.aput(("m",), "a", {"text": "boat"}, index=["text"])
    await cypher(
        graph,
        "MATCH (n:KgagentStoreText {user_id: $user}) REMOVE n.embedding, n.embedding_model",
        user=user_id,
    )
    [item] = await store.asearch((), query="boat")
    assert item.score is None
    assert (await graph.migrate(user_id=user_id)).store_texts == 1
    [item] = await store.asearch((), query="boat")
    assert item.score == pytest.approx(1.0)
