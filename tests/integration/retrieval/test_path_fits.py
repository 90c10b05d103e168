"""How paths continue that a search did not follow to their end."""

import pytest
from kgagent.retrieval.path_fits import OpenEnd, continuing_types

from kgagent import KnowledgeGraph
from kgagent.errors import StoreError
from kgagent.knowledge_graph import services_of
from kgagent.retrieval.scope import RelationshipFilter
from kgagent.retrieval.vector_targets import RANKING_FIELDS, relationship_target
from kgagent.tools import Toolset

ALL = RelationshipFilter()


async def joined(tools: Toolset, *triplets: tuple[str, str, str]) -> dict[str, str]:
    """Make people and their relationships; the key of each by name."""
    keys: dict[str, str] = {}
    for first, relationship_type, last in triplets:
        for name in (first, last):
            if name not in keys:
                keys[name] = str((await tools.create_node(label="Person", name=name))["entity_key"])
        answer = await tools.create_relationship(
            from_entity_key=keys[first], to_entity_key=keys[last], relationship_type=relationship_type
        )
        assert answer["success"], answer
    return keys


async def end_at(graph: KnowledgeGraph, user_id: str, start: str, exit_: str) -> OpenEnd:
    """A path of one relationship."""
    [row] = await services_of(graph).store.read(
        "MATCH (:Person {entity_key: $start, user_id: $user})-[r]-(:Person {entity_key: $exit, user_id: $user}) "
        "RETURN elementId(r) AS element_id",
        {"user": user_id, "start": start, "exit": exit_},
    )
    return OpenEnd(row["element_id"], frozenset([exit_]), frozenset([start, exit_]))


async def types_behind(
    graph: KnowledgeGraph, user_id: str, *ends: OpenEnd, types: RelationshipFilter = ALL, timeout: float = 30.0
) -> dict[str, set[str]]:
    """What a search reads."""
    target = relationship_target(graph.ontology, services_of(graph).store.features, None, RANKING_FIELDS)
    found = await continuing_types(graph.retrieval.scope.of(user_id), target, types, ends, timeout=timeout)
    return {one: set(names) for one, names in found.items()}


async def test_types_are_read_behind_the_exit_but_not_on_the_way_back(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    keys = await joined(
        tools, ("Ann", "friend", "Bo"), ("Bo", "mentor, colleague", "Cy"), ("Bo", "rival", "Di"), ("Ann", "boss", "Eve")
    )
    end = await end_at(graph, user_id, keys["Ann"], keys["Bo"])
    assert await types_behind(graph, user_id, end) == {end.element_id: {"mentor", "colleague", "rival"}}
    only = RelationshipFilter(relationship_types=("rival",))
    assert await types_behind(graph, user_id, end, types=only) == {end.element_id: {"rival"}}


async def test_a_dead_end_has_no_types(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    keys = await joined(tools, ("Ann", "friend", "Bo"))
    end = await end_at(graph, user_id, keys["Ann"], keys["Bo"])
    assert await types_behind(graph, user_id, end) == {end.element_id: set()}


async def test_nothing_is_read_for_another_user(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    keys = await joined(tools, ("Ann", "friend", "Bo"), ("Bo", "mentor", "Cy"))
    end = await end_at(graph, user_id, keys["Ann"], keys["Bo"])
    assert await types_behind(graph, f"{user_id}-stranger", end) == {}


async def test_relationships_that_another_user_hung_on_a_node_do_not_continue_a_path(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    keys = await joined(tools, ("Ann", "friend", "Bo"), ("Bo", "mentor", "Cy"))
    stranger = f"{user_id}-stranger"
    theirs = await joined(graph.tools(user_id=stranger), ("Xu", "rival", "Yi"))
    await services_of(graph).store.write(
        "MATCH (b:Person {entity_key: $mine, user_id: $user}), (x:Person {entity_key: $theirs, user_id: $stranger}) "
        "CREATE (b)-[:has_relationship_with {relationship_type: 'rival', user_id: $stranger}]->(x)",
        {"mine": keys["Bo"], "theirs": theirs["Xu"], "user": user_id, "stranger": stranger},
    )
    end = await end_at(graph, user_id, keys["Ann"], keys["Bo"])
    assert await types_behind(graph, user_id, end) == {end.element_id: {"mentor"}}


async def test_without_the_database_nothing_is_known(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_: object, **__: object) -> None:
        raise StoreError("down")

    monkeypatch.setattr(services_of(graph).store, "read", failing)
    assert await types_behind(graph, user_id, OpenEnd("4:x:1", frozenset("a"), frozenset("ab"))) == {}
