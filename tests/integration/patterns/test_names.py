import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.knowledge_graph import services_of
from kgagent.models.pattern import GraphPattern
from kgagent.patterns.names import checked_schema
from tests.support.stored import cypher
from tests.support.ward import plant_ward


async def test_a_new_name_is_known_at_once(graph: KnowledgeGraph, user_id: str) -> None:
    reader = LiveSchemaReader(services_of(graph).store, graph.ontology)
    await plant_ward(graph, user_id)
    await reader.read(user_id)
    nurse = GraphPattern.single_hop("Nurse", "TREATED_BY", "Doctor")
    with pytest.raises(InputError, match="Unknown label 'Nurse' in pattern 'single_hop', step 0"):
        await checked_schema([nurse], reader, user_id, graph.ontology)
    await cypher(graph, "CREATE (:Nurse {user_id: $user})", user=user_id)
    schema = await checked_schema([nurse], reader, user_id, graph.ontology)
    assert schema is await reader.read(user_id)


async def test_a_name_that_only_another_user_has_is_unknown_and_not_suggested(
    graph: KnowledgeGraph, user_id: str
) -> None:
    reader = LiveSchemaReader(services_of(graph).store, graph.ontology)
    await plant_ward(graph, user_id)
    await cypher(graph, "CREATE (:Midwife {user_id: $user})", user=f"{user_id}-other")
    with pytest.raises(InputError) as raised:
        await checked_schema(
            [GraphPattern.single_hop("Midwife", "TREATED_BY", "Doctor")],
            reader,
            user_id,
            graph.ontology,
        )
    assert str(raised.value) == (
        "Unknown label 'Midwife' in pattern 'single_hop', step 0. "
        "Existing labels: Concept, Condition, Doctor, Entity, Patient, Person, Source, Surgeon."
    )
    with pytest.raises(InputError, match="Did you mean Midwife"):
        await checked_schema(
            [GraphPattern.single_hop("Midwive", "TREATED_BY", "Doctor")],
            reader,
            f"{user_id}-other",
            graph.ontology,
        )
