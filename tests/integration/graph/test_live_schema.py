import uuid
from dataclasses import replace
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError, StatementTimeoutError, StoreError
from kgagent.graph.live_schema import DEFAULT_LIMITS, LiveSchemaReader
from kgagent.knowledge_graph import services_of
from kgagent.models.live_schema import LiveProperty, LiveSchema
from kgagent.tools import Toolset
from tests.support import facts
from tests.support.people import two_friends
from tests.support.stored import cypher
from tests.support.ward import plant_ward


@pytest.fixture
def reader(graph: KnowledgeGraph) -> LiveSchemaReader:
    return LiveSchemaReader(services_of(graph).store, graph.ontology)


def property_of(schema: LiveSchema, label: str, name: str) -> LiveProperty:
    found = schema.label(label)
    assert found is not None
    return next(item for item in found.properties if item.name == name)


def pairs(schema: LiveSchema, neo4j_type: str) -> dict[tuple[str, str], int]:
    found = schema.relationship_type(neo4j_type)
    assert found is not None
    return {(pair.from_label, pair.to_label): pair.count for pair in found.pairs}


async def test_labels_and_types_that_no_ontology_knows_are_found_with_their_counts(
    graph: KnowledgeGraph, reader: LiveSchemaReader, user_id: str
) -> None:
    await plant_ward(graph, user_id)
    schema = await reader.read(user_id)
    assert {label.name: label.count for label in schema.labels} == {
        "Patient": 2,
        "Doctor": 2,
        "Surgeon": 1,
        "Condition": 2,
    }
    assert {kind.name: kind.count for kind in schema.relationship_types} == {
        "TREATED_BY": 3,
        "HAS_CONDITION": 2,
    }
    assert pairs(schema, "HAS_CONDITION") == {("Patient", "Condition"): 2}
    assert pairs(schema, "TREATED_BY") == {("Patient", "Doctor"): 3, ("Patient", "Surgeon"): 1}
    assert not schema.sampled
    assert not any(part.is_lower_bound for part in schema.labels)


@pytest.mark.parametrize(
    ("values", "kinds", "examples"),
    [
        (
            [f"state {n % 8}" for n in range(50)],
            ["text"],
            ["state 0", "state 1", "state 2", "state 3", "state 4"],
        ),
        ([f"state {n % 21}" for n in range(50)], ["text"], []),
        (["short", "long " * 20], ["text"], []),
        (["[draft] of a plan", "{unclosed", ' {"a": 1}\n'], ["text", "JSON text"], []),
        ([1, 2, "three"], ["number", "text"], ["three"]),
    ],
)
async def test_few_short_texts_are_examples_and_json_is_known_by_its_brackets(
    graph: KnowledgeGraph,
    reader: LiveSchemaReader,
    user_id: str,
    values: list[object],
    kinds: list[str],
    examples: list[str],
) -> None:
    await cypher(
        graph,
        "UNWIND $values AS value CREATE (:Thing {user_id: $user, of: value})",
        values=values,
        user=user_id,
    )
    found = property_of(await reader.read(user_id), "Thing", "of")
    assert (list(found.kinds), list(found.examples)) == (kinds, examples)


async def test_relationship_types_are_listed_in_full_and_keys_are_not(
    graph: KnowledgeGraph, reader: LiveSchemaReader, user_id: str
) -> None:
    await cypher(
        graph,
        "CREATE (a:Thing {user_id: $user, entity_key: 'one'}) WITH a UNWIND range(0, 29) AS n "
        "CREATE (a)-[:KNOWS {user_id: $user, relationship_type: 'word ' + (n % 25)}]->(a)",
        user=user_id,
    )
    schema = await reader.read(user_id)
    found = schema.relationship_type("KNOWS")
    assert found is not None
    [words] = [item.examples for item in found.properties if item.name == "relationship_type"]
    assert len(words) == 20
    assert {f"word {n}" for n in range(5)} <= set(words)
    assert property_of(schema, "Thing", "entity_key").examples == ()


async def test_labels_and_types_of_another_user_are_not_described(
    graph: KnowledgeGraph, reader: LiveSchemaReader, user_id: str
) -> None:
    other, secret = f"{user_id}-other", uuid.uuid4().hex
    await plant_ward(graph, user_id)
    await plant_ward(graph, other)
    await cypher(
        graph,
        f"MATCH (theirs:Patient {{user_id: $other, name: 'Ann'}}) SET theirs.secret_{secret} = 'x' "
        f"SET theirs.status = 'x' CREATE (theirs)-[:SECRET_{secret}]->(:Secret_{secret} "
        f"{{user_id: $other}}), "
        f"(theirs)-[:TREATED_BY {{secret_{secret}: 1}}]->(:Doctor {{user_id: $other}})",
        other=other,
    )
    before = await reader.read(user_id)
    assert secret not in before.model_dump_json()
    assert property_of(before, "Patient", "status").examples == ("active",)
    assert pairs(before, "TREATED_BY") == {("Patient", "Doctor"): 3, ("Patient", "Surgeon"): 1}
    assert secret in (await reader.read(other)).model_dump_json()


async def test_a_relationship_belongs_to_a_user_if_it_and_both_ends_do(
    graph: KnowledgeGraph, reader: LiveSchemaReader, user_id: str
) -> None:
    await plant_ward(graph, user_id)
    await cypher(
        graph,
        "MATCH (ann:Patient {user_id: $user, name: 'Ann'}), (bo:Patient {user_id: $user, name: "
        "'Bo'}) "
        "CREATE (ann)-[:CROSSES]->(:Doctor {user_id: $other}), (:Doctor {user_id: "
        "$other})-[:CROSSES]->(ann), "
        "(ann)-[:CROSSES]->(:Doctor), (ann)-[:CLAIMED {user_id: $other}]->(bo), (ann)-[:OWN "
        "{user_id: $user}]->(bo)",
        user=user_id,
        other=f"{user_id}-other",
    )
    schema = await reader.read(user_id)
    assert schema.relationship_type("CROSSES") is None
    assert schema.relationship_type("CLAIMED") is None
    assert pairs(schema, "OWN") == {("Patient", "Patient"): 1}


async def test_hidden_properties_are_not_described(
    graph: KnowledgeGraph, reader: LiveSchemaReader, tools: Toolset, user_id: str
) -> None:
    await two_friends(tools, description="They met at school")
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user}) SET n.created_by = 'x', n.title_Embedding = [0.1], "
        "n.hobby = 'chess' "
        "WITH n MATCH (n)-[r]->() SET r.relation_embedding = [0.1], r.decay_gradient = 0.5, "
        "r.summary_embedding = [1.0]",
        user=user_id,
    )
    schema = await reader.read(user_id)
    label, kind = schema.label("Person"), schema.relationship_type("has_relationship_with")
    assert label is not None
    assert kind is not None
    shown = {"created_at", "description", "entity_key", "hobby", "name", "updated_at"}
    assert {item.name for item in label.properties} == shown
    described = {item.name for item in kind.properties}
    assert {"relationship_type", "description", "confidence"} <= described
    assert not described & (
        facts.NEVER_RETURNED | {"user_id", "version", "relationship_key", "summary_embedding"}
    )


@pytest.mark.parametrize(
    "name",
    [
        "`) DETACH DELETE n //",
        "«label»",
        "Größe 愛 \U0001f469",
        "x" * 10_000,
    ],
    ids=range(4),
)
async def test_hostile_names_are_found_as_they_are(
    graph: KnowledgeGraph, reader: LiveSchemaReader, user_id: str, name: str
) -> None:
    quoted = name.replace("`", "``")
    await cypher(
        graph,
        f"CREATE (:`{quoted}` {{user_id: $user, `{quoted}`: 'x'}})-[:`{quoted}` "
        f"{{`{quoted}`: 1}}]->"
        f"(:`{quoted}` {{user_id: $user}})",
        user=user_id,
    )
    schema = await reader.read(user_id)
    [label], [kind] = schema.labels, schema.relationship_types
    assert (label.name, label.count, kind.name, kind.count) == (name, 2, name, 1)
    assert pairs(schema, name) == {(name, name): 1}
    assert [item.name for item in (*label.properties, *kind.properties)] == [name, name]


async def test_names_that_cannot_be_quoted_are_omitted(
    graph: KnowledgeGraph, reader: LiveSchemaReader, user_id: str
) -> None:
    await cypher(
        graph,
        "CREATE (a:Fine:`back\\\\slash`:`line\\nbreak` {user_id: $user, `a\\\\b`: 1, b: 2})"
        "-[:`back\\\\slash`]->(b:Fine {user_id: $user})-[:FINE]->(a)",
        user=user_id,
    )
    schema = await reader.read(user_id)
    assert [label.name for label in schema.labels] == ["Fine"]
    assert [item.name for item in schema.labels[0].properties] == ["b"]
    assert [kind.name for kind in schema.relationship_types] == ["FINE"]
    assert pairs(schema, "FINE") == {("Fine", "Fine"): 1}


async def test_a_partly_read_label_or_type_is_marked(graph: KnowledgeGraph, user_id: str) -> None:
    label, kind = f"Many_{uuid.uuid4().hex}", f"MANY_{uuid.uuid4().hex}"
    await cypher(
        graph,
        f"UNWIND range(1, 10) AS i CREATE (:`{label}` {{user_id: $user, i: i}})-[:`{kind}`]->(:Few "
        f"{{user_id: $user}})",
        user=user_id,
    )

    async def read(**limits: int) -> LiveSchema:
        return await LiveSchemaReader(
            services_of(graph).store, graph.ontology, limits=replace(DEFAULT_LIMITS, **limits)
        ).read(user_id)

    exact = await read(names_limit=10, count_limit=10, values_limit=1)
    [found], [joins] = (
        [item for item in exact.labels if item.name == label],
        exact.relationship_types,
    )
    assert (found.count, found.is_lower_bound, found.sampled) == (10, False, False)
    assert (joins.count, joins.is_lower_bound, joins.sampled) == (10, False, False)
    assert not exact.sampled
    cut = await read(names_limit=8, count_limit=9)
    [found], [joins] = [item for item in cut.labels if item.name == label], cut.relationship_types
    assert (found.count, found.is_lower_bound, found.sampled) == (9, True, True)
    assert (joins.is_lower_bound, joins.sampled, cut.is_partial) == (True, True, True)


async def test_a_relationship_from_a_node_with_several_labels_is_counted_once(
    graph: KnowledgeGraph, reader: LiveSchemaReader, user_id: str
) -> None:
    await cypher(
        graph,
        "CREATE (a:Person:Doctor {user_id: $user}), (b:Person {user_id: $user}), (c {user_id: "
        "$user}), "
        "(a)-[:KNOWS]->(a), (a)-[:KNOWS]->(b), (b)-[:KNOWS]->(a), (a)-[:KNOWS]->(c)",
        user=user_id,
    )
    schema = await reader.read(user_id)
    assert {kind.name: kind.count for kind in schema.relationship_types} == {"KNOWS": 4}
    assert pairs(schema, "KNOWS")["Doctor", "Person"] == 2


async def test_a_schema_is_cached_for_a_while_and_refreshed_on_request(
    graph: KnowledgeGraph, user_id: str
) -> None:
    now = 0.0
    reader = LiveSchemaReader(
        services_of(graph).store, graph.ontology, lifetime=60, clock=lambda: now
    )
    empty = await reader.read(user_id)
    await plant_ward(graph, user_id)
    now = 59.9
    assert await reader.read(user_id) is empty
    renewed = await reader.read(user_id, fresh=True)
    assert renewed.label("Patient") is not None
    await cypher(graph, "CREATE (:Nurse {user_id: $user})", user=user_id)
    now = 119.8
    assert await reader.read(user_id) is renewed
    now = 119.9
    assert (await reader.read(user_id)).label("Nurse") is not None


async def test_what_times_out_is_omitted_and_reported(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await plant_ward(graph, user_id)
    read = services_of(graph).store.read

    async def slow(
        text: str, parameters: Any, *, timeout: float | None = None
    ) -> list[dict[str, Any]]:
        assert timeout == 2.5
        if "`Doctor`" in text:
            raise StatementTimeoutError("The database ended the statement")
        return await read(text, parameters, timeout=timeout)

    monkeypatch.setattr(services_of(graph).store, "read", slow)
    schema = await LiveSchemaReader(services_of(graph).store, graph.ontology, timeout=2.5).read(
        user_id
    )
    assert (schema.is_partial, schema.sampled) == (True, True)
    assert {label.name for label in schema.labels} == {"Patient", "Surgeon", "Condition"}


async def test_a_failure_is_reported_and_not_cached(
    graph: KnowledgeGraph, reader: LiveSchemaReader, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(*_: object, **__: object) -> None:
        raise StoreError("Neo4j cannot be used")

    with monkeypatch.context() as broken:
        broken.setattr(services_of(graph).store, "read", down)
        with pytest.raises(StoreError, match="cannot be used"):
            await reader.read(user_id)
    assert await reader.read(user_id) == LiveSchema()
    with pytest.raises(InputError, match="user_id must not be empty"):
        await reader.read("")
