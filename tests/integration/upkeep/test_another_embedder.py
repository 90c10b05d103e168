"""A graph goes over to another model, or to one whose embeddings have another length."""

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import SchemaError
from kgagent.knowledge_graph import services_of
from kgagent.upkeep.migration_report import Counts
from tests.conftest import Clock
from tests.integration.upkeep.damaged import problems
from tests.integration.upkeep.old_graph import run
from tests.support.own_ontology import (
    dropped_in_the_end,
    leave_shared_indexes_out,
    names,
    own_graph,
    own_ontology,
)
from tests.support.stored import cypher, the_relationship

pytestmark = pytest.mark.schema


async def test_embeddings_of_another_length_are_regenerated_after_the_indexes(
    settings: Settings, clock: Clock
) -> None:
    async with (
        dropped_in_the_end(settings, own_ontology()) as ontology,
        own_graph(settings, HashingEmbedder(48), clock, ontology) as before,
        KnowledgeGraph.connect(
            settings=settings,
            embedder=HashingEmbedder(96),
            clock=clock,
            ontology=ontology,
            ensure_schema=False,
        ) as after,
    ):
        known, user_id = names(ontology), "someone"
        await cypher(
            before,
            f"CREATE (:{known['Person']} {{entity_key: 'a', user_id: $user, name: 'Ada'}})"
            f"-[:{known['knows']} {{description: 'They row'}}]->"
            f"(:{known['Person']} {{entity_key: 'b', user_id: $user, name: 'Bo'}})",
            user=user_id,
        )
        await run(before, None)
        leave_shared_indexes_out(after)
        with pytest.raises(SchemaError, match="kgagent migrate --rebuild-indexes"):
            await services_of(after).schema.ensure()
        [fix] = {
            finding.fix
            for finding in problems(await after.diagnose())
            if "made for embeddings of length 48" in finding.message
        }
        assert fix.endswith("; or, to embed everything again, kgagent migrate --rebuild-indexes")
        await services_of(after).schema.rebuild_vector_indexes()
        report = await run(after, None)
        assert report.total == Counts(examined=3, embedded=3)
        assert len((await the_relationship(after, user_id))["relationship_embedding"]) == 96
        [hit] = await after.retrieval.node_vector_search("Ada", user_id=user_id, threshold=0.9)
        assert hit.node.name == "Ada"
        assert await services_of(after).schema.problems() == []
