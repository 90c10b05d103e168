"""Queries over graph patterns, on a graph whose labels no ontology knows."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import (
    ConfigurationError,
    EmbeddingUnavailableError,
    InputError,
    NotFoundError,
    SearchError,
    StatementTimeoutError,
    StatementValueError,
)
from kgagent.graph.statements import Statement
from kgagent.knowledge_graph import services_of
from kgagent.models.live_schema import LiveSchema
from kgagent.models.matched_path import PatternResult
from kgagent.models.pattern_query import GraphQuery
from tests.integration.patterns.conftest import with_settings
from tests.support.stored import cypher
from tests.support.ward import plant_ward

HAS = {"source_label": "Patient", "relation_type": "HAS_CONDITION", "target_label": "Condition"}
TREATED = {"source_label": "Patient", "relation_type": "TREATED_BY", "target_label": "Doctor"}
BACK = {"relation_type": "TREATED_BY", "target_label": "Patient", "direction": "INCOMING"}


@pytest.fixture
async def ward(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraph:
    """The hospital of the user, and the same of another."""
    await plant_ward(graph, user_id)
    await plant_ward(graph, f"{user_id}-other")
    # A busy machine changes nothing.
    return with_settings(graph, patterns_timeout=120.0)


async def ask(graph: KnowledgeGraph, user_id: str, **query: Any) -> PatternResult:
    return await graph.query_patterns(GraphQuery.model_validate(query), user_id=user_id)


async def names(graph: KnowledgeGraph, user_id: str, pattern: Mapping[str, Any]) -> list[list[str]]:
    """Names along each path of a pattern."""
    result = await ask(graph, user_id, patterns=[pattern], strict=False)
    return sorted([node.name for node in path.nodes] for path in result.paths)


async def test_a_pattern_finds_only_the_users_paths(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    assert await names(shared_ward, shared_user, {"steps": [HAS]}) == [
        ["Ann", "Flu"],
        ["Bo", "Gout"],
    ]


async def test_no_path_contains_a_relationship_to_another_user(
    ward: KnowledgeGraph, user_id: str
) -> None:
    await cypher(
        ward,
        "MATCH (a:Patient {user_id: $user, name: 'Ann'}), (b:Condition {user_id: $other, name: "
        "'Gout'}) "
        "CREATE (a)-[:HAS_CONDITION]->(b)",
        user=user_id,
        other=f"{user_id}-other",
    )
    assert await names(ward, user_id, {"steps": [HAS]}) == [["Ann", "Flu"], ["Bo", "Gout"]]


async def test_a_path_has_its_records_and_an_explained_score(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    pattern = {"steps": [HAS], "description": "who has what", "pattern_id": "ill"}
    constraints = [
        {"type": "PROPERTY_EQUALS", "property_path": "name", "value": "Flu", "at_step": 0}
    ]
    [path] = (
        await ask(
            shared_ward,
            shared_user,
            patterns=[{**pattern, "constraints": constraints}],
            ranking="PATH_LENGTH",
        )
    ).paths
    assert path.to_path_string() == "Ann -[HAS_CONDITION]-> Flu"
    assert path.explanation == "PATH_LENGTH 1.000: 1 / 1 relationship. who has what"
    assert path.relationships[0].properties == {"severity": "mild", "since": 2019}
    assert path.node_at_step(0).name == "Flu"
    assert path.start.properties["insured"] is True
    assert "user_id" not in path.start.properties


async def test_a_path_may_repeat_relationships_if_allowed(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    found = await names(
        shared_ward, shared_user, {"steps": [TREATED, BACK], "repeat_relationships": True}
    )
    assert ["Ann", "Eve", "Ann"] in found
    assert len(found) == 5


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ({"type": "GREATER_THAN", "property_path": "age", "value": 7.5}, ["Ann"]),
        ({"type": "GREATER_THAN_EQUALS", "property_path": "age", "value": 7.5}, ["Ann", "Bo"]),
        ({"type": "LESS_THAN", "property_path": "age", "value": 41}, ["Bo"]),
        ({"type": "LESS_THAN_EQUALS", "property_path": "age", "value": 41}, ["Ann", "Bo"]),
        ({"type": "LESS_THAN", "property_path": "admitted", "value": "2026-02-01"}, ["Ann"]),
        ({"type": "PROPERTY_EQUALS", "property_path": "admitted", "value": "2026-01-02"}, ["Ann"]),
        ({"type": "PROPERTY_EQUALS", "property_path": "insured", "value": True}, ["Ann"]),
        ({"type": "PROPERTY_IN", "property_path": "name", "value": ["Ann", "Zoe", 3]}, ["Ann"]),
        ({"type": "NOT_IN", "property_path": "insured", "value": [False]}, ["Ann"]),
        ({"type": "CONTAINS", "property_path": "allergies", "value": "nuts"}, ["Ann"]),
        ({"type": "CONTAINS", "property_path": "name", "value": "n"}, ["Ann"]),
        ({"type": "STARTS_WITH", "property_path": "name", "value": "B"}, ["Bo"]),
        ({"type": "ENDS_WITH", "property_path": "name", "value": "o"}, ["Bo"]),
        ({"type": "REGEX_MATCH", "property_path": "name", "value": "A.*"}, ["Ann"]),
        ({"type": "REGEX_MATCH", "property_path": "name", "value": "A"}, []),
        ({"type": "PROPERTY_EQUALS", "property_path": "contact.city", "value": "Rome"}, ["Ann"]),
        ({"type": "REGEX_MATCH", "property_path": "contact.city", "value": "R..e"}, ["Ann"]),
        ({"type": "PROPERTY_EQUALS", "property_path": "properties.name", "value": "Bo"}, ["Bo"]),
    ],
)
async def test_a_constraint_keeps_matching_paths(
    shared_ward: KnowledgeGraph, shared_user: str, constraint: dict[str, Any], expected: list[str]
) -> None:
    found = await names(
        shared_ward,
        shared_user,
        {"steps": [HAS], "constraints": [{**constraint, "at_step": "start"}]},
    )
    assert [path[0] for path in found] == expected


async def test_a_constraint_on_any_node_holds_for_those_of_its_label(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    constraint = {
        "type": "STARTS_WITH",
        "property_path": "name",
        "value": "G",
        "node_label": "Condition",
    }
    assert await names(shared_ward, shared_user, {"steps": [HAS], "constraints": [constraint]}) == [
        ["Bo", "Gout"]
    ]


async def test_a_constraint_on_a_relationship(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    constraint = {
        "type": "GREATER_THAN",
        "property_path": "since",
        "value": 2000,
        "on": "relationship",
        "at_step": 0,
    }
    assert await names(shared_ward, shared_user, {"steps": [HAS], "constraints": [constraint]}) == [
        ["Ann", "Flu"]
    ]


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [("GREATER_THAN", "age", "40"), ("LESS_THAN", "name", 5), ("STARTS_WITH", "age", "4")],
)
async def test_comparing_text_with_a_number_is_an_error_that_names_both(
    shared_ward: KnowledgeGraph, shared_user: str, kind: str, path: str, value: object
) -> None:
    constraint = {"type": kind, "property_path": path, "value": value, "at_step": "start"}
    with pytest.raises(
        InputError, match=f"{kind} on '{path}' cannot compare the stored value .* with '{value}'"
    ):
        await names(shared_ward, shared_user, {"steps": [HAS], "constraints": [constraint]})


async def test_a_slow_regular_expression_is_matched_in_time(
    ward: KnowledgeGraph, user_id: str
) -> None:
    await cypher(
        ward,
        "MATCH (n:Patient {user_id: $user}) SET n.name = $name",
        user=user_id,
        name="a" * 5_000 + "!",
    )
    constraint = {
        "type": "REGEX_MATCH",
        "property_path": "name",
        "value": "(a+)+",
        "at_step": "start",
    }
    assert await names(ward, user_id, {"steps": [HAS], "constraints": [constraint]}) == []


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("PROPERTY_EQUALS", "Rome", ["Ann"]),
        ("PROPERTY_EQUALS", "Oslo", []),
        ("PROPERTY_IN", ["Rome"], ["Ann"]),
        ("NOT_IN", ["Rome"], []),
    ],
)
async def test_lists_inside_json_are_searched_at_any_depth(
    ward: KnowledgeGraph, user_id: str, kind: str, value: object, expected: list[str]
) -> None:
    deep = '{"city": ' + "[" * 600 + '"Rome"' + "]" * 600 + "}"
    await cypher(
        ward,
        "MATCH (n:Patient {user_id: $user, name: 'Ann'}) SET n.contact = $deep",
        user=user_id,
        deep=deep,
    )
    constraint = {"type": kind, "property_path": "contact.city", "value": value, "at_step": "start"}
    found = await names(ward, user_id, {"steps": [HAS], "constraints": [constraint]})
    assert [path[0] for path in found] == expected


@pytest.mark.parametrize("expression", ["(", "(?=a)b", "a{1000000}"])
async def test_an_invalid_regular_expression_is_reported(
    shared_ward: KnowledgeGraph, shared_user: str, expression: str
) -> None:
    constraint = {
        "type": "REGEX_MATCH",
        "property_path": "name",
        "value": expression,
        "at_step": "start",
    }
    with pytest.raises(InputError, match=r"REGEX_MATCH on 'name' cannot use .* Use RE2 syntax"):
        await names(shared_ward, shared_user, {"steps": [HAS], "constraints": [constraint]})


HOSTILE = ["x` OR true //", "x'}) DETACH DELETE n //", "\\u0060x", "«types»", ""]


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_names_are_refused_and_hostile_values_are_values(
    shared_ward: KnowledgeGraph, shared_user: str, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    schema = await services_of(shared_ward).live_schema.read(shared_user)

    async def already_read(*_: object, **__: object) -> LiveSchema:
        return schema

    # Each unknown name reads the schema again, which makes no difference here but takes long.
    monkeypatch.setattr(services_of(shared_ward).live_schema, "read", already_read)
    step_with = {"source_label": text or "`", "relation_type": "HAS_CONDITION"}
    for pattern in (
        {"steps": [step_with]},
        {"steps": [{"relation_type": text or "`"}]},
        {
            "steps": [HAS],
            "constraints": [{"type": "PROPERTY_EQUALS", "property_path": text or "`", "value": 1}],
        },
    ):
        with pytest.raises((InputError, ValueError)):
            await names(shared_ward, shared_user, pattern)
    constraint = {
        "type": "PROPERTY_IN",
        "property_path": "name",
        "value": [text, "Flu"],
        "at_step": 0,
    }
    assert await names(shared_ward, shared_user, {"steps": [HAS], "constraints": [constraint]}) == [
        ["Ann", "Flu"]
    ]


async def test_an_unknown_name_is_reported_with_the_closest(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    with pytest.raises(InputError, match=r"Patiant.*Patient"):
        await names(shared_ward, shared_user, {"steps": [{**HAS, "source_label": "Patiant"}]})


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [({"at_least": 2}, ["Ann"]), ({"at_most": 1}, ["Bo"]), ({"at_most": 0}, [])],
)
async def test_branches_require_and_exclude(
    shared_ward: KnowledgeGraph, shared_user: str, bounds: dict[str, int], expected: list[str]
) -> None:
    branch = {
        "at_step": "start",
        "steps": [{"relation_type": "TREATED_BY", "target_label": "Doctor"}],
        **bounds,
    }
    found = await names(shared_ward, shared_user, {"steps": [HAS], "branches": [branch]})
    assert [path[0] for path in found] == expected


async def test_paths_start_at_the_targets(shared_ward: KnowledgeGraph, shared_user: str) -> None:
    result = await ask(
        shared_ward,
        shared_user,
        targets=[{"description": "ann", "label": "Patient"}],
        patterns=[{"steps": [HAS]}],
    )
    assert [path.to_path_string() for path in result.paths] == ["Ann -[HAS_CONDITION]-> Flu"]
    assert [node.name for node in result.context.entry_points] == ["Ann"]


async def test_a_target_that_fits_only_the_end_is_the_end(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    result = await ask(
        shared_ward, shared_user, targets=[{"description": "Gout"}], patterns=[{"steps": [HAS]}]
    )
    assert [path.start.name for path in result.paths] == ["Bo"]


async def test_an_unknown_target_is_reported(shared_ward: KnowledgeGraph, shared_user: str) -> None:
    with pytest.raises(NotFoundError, match="No node was found for 'Zoe' with label Patient"):
        await ask(
            shared_ward,
            shared_user,
            targets=[{"description": "Zoe", "label": "Patient"}],
            patterns=[{"steps": [HAS]}],
        )


async def test_intersection_keeps_paths_that_share_a_node_with_every_pattern(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    flu = [{"type": "PROPERTY_EQUALS", "property_path": "name", "value": "Flu", "at_step": 0}]
    finn = [{"type": "PROPERTY_EQUALS", "property_path": "name", "value": "Finn", "at_step": 0}]
    parts = [
        {"pattern_id": "flu", "steps": [HAS], "constraints": flu},
        {"pattern_id": "finn", "steps": [TREATED], "constraints": finn},
    ]
    both = await ask(
        shared_ward, shared_user, combinator={"type": "INTERSECTION", "patterns": parts}
    )
    assert {path.start.name for path in both.paths} == {"Ann"}
    assert {path.pattern_id for path in both.paths} == {"flu", "finn"}
    either = await ask(shared_ward, shared_user, combinator={"type": "UNION", "patterns": parts})
    assert sorted(path.start.name for path in either.paths) == ["Ann", "Bo"]


async def test_a_sequence_is_one_path_through_all_patterns(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    back = {"source_label": "Doctor", **BACK}
    parts = [
        {"pattern_id": "doctor", "steps": [TREATED]},
        {"pattern_id": "others", "steps": [back]},
    ]
    result = await ask(
        shared_ward, shared_user, combinator={"type": "SEQUENTIAL", "patterns": parts}
    )
    assert "Bo -[TREATED_BY]-> Finn <-[TREATED_BY]- Ann" in [
        path.to_path_string() for path in result.paths
    ]
    assert {path.pattern_id for path in result.paths} == {"doctor > others"}


async def test_at_most_the_requested_paths_are_returned_and_truncation_is_reported(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    result = await ask(shared_ward, shared_user, patterns=[{"steps": [TREATED]}], max_paths=2)
    assert len(result.paths) == 2
    assert result.context.explored == {"pattern": 3}
    assert not result.context.truncated


async def test_if_nothing_matches_a_strict_query_fails(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    with pytest.raises(NotFoundError, match="No path matches"):
        await ask(
            shared_ward,
            shared_user,
            patterns=[{"steps": [{**TREATED, "direction": "INCOMING"}]}],
            strict=True,
        )


async def test_a_traversal_from_targets_returns_the_shortest_path_to_each_node(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    result = await ask(
        shared_ward, shared_user, targets=[{"description": "Ann"}], traversal={"max_depth": 2}
    )
    assert result.strategy == "traversal"
    assert {path.end.name: path.properties["hops"] for path in result.paths} == {
        "Flu": 1,
        "Eve": 1,
        "Finn": 1,
        "Bo": 2,
    }
    assert len(result.context.relationships) == 4


@pytest.mark.parametrize(("every", "expected"), [(True, {"Flu", "Eve", "Finn"}), (False, {"Flu"})])
async def test_a_traversal_follows_all_its_types_or_the_first(
    shared_ward: KnowledgeGraph, shared_user: str, every: bool, expected: set[str]
) -> None:
    result = await ask(
        shared_ward,
        shared_user,
        targets=[{"description": "Ann"}],
        traversal={"max_depth": 1, "relation_types": ["HAS_CONDITION", "TREATED_BY"]},
        use_all_relation_hints=every,
    )
    assert {path.end.name for path in result.paths} == expected


async def test_a_target_is_a_node_with_the_words_in_a_name_or_alias_or_else_the_most_similar(
    graph: KnowledgeGraph, user_id: str
) -> None:
    tools = graph.tools(user_id=user_id)
    ruth = {
        "label": "Person",
        "name": "Ruth Calder",
        "aliases": ["Lucía"],
        "description": "Naval architect",
    }
    others = [
        {"label": "Person", "name": name, "description": "Sister of Ruth"}
        for name in ("Rut", "Luca")
    ]
    answer = await tools.remember(nodes=[ruth, *others])
    assert answer["success"], answer
    similar = "No node is named 'naval architect' with label Person; used the most similar instead: Ruth Calder"
    for description, warning in (
        ("Ruth", "'Ruth' with label Person → Ruth Calder"),
        ("lucia", "'lucia' with label Person → Ruth Calder"),
        ("naval architect", similar),
    ):
        target = {"description": description, "label": "Person"}
        result = await ask(
            graph, user_id, targets=[target], traversal={"max_depth": 1}, query="who?"
        )
        assert result.warnings[0].startswith(warning)
        if warning != similar:
            assert [node.name for node in result.context.entry_points] == ["Ruth Calder"]


async def test_a_slow_query_is_terminated_by_the_server(ward: KnowledgeGraph, user_id: str) -> None:
    await cypher(
        ward,
        "UNWIND range(1, 40) AS a CREATE (:Ring {user_id: $user, name: toString(a)}) WITH count(*) "
        "AS made "
        "MATCH (a:Ring {user_id: $user}), (b:Ring {user_id: $user}) WHERE a <> b CREATE "
        "(a)-[:NEXT]->(b)",
        user=user_id,
    )
    hasty = with_settings(ward, patterns_timeout=1.0)
    step = {"relation_type": "NEXT", "source_label": "Ring", "target_label": "Ring"}
    start = {"at_step": "start", "property_path": "name"}
    never = [
        {"type": kind, "property_path": "name", "value_from": start, "at_step": "end"}
        for kind in ("PROPERTY_EQUALS", "NOT_IN")
    ]
    with pytest.raises(SearchError, match=r"The query took longer than 1 s\. Add targets"):
        await ask(
            hasty, user_id, query="x", patterns=[{"steps": [step] * 8, "constraints": never}] * 12
        )


async def test_semantic_ranking_without_a_question_is_an_error(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    with pytest.raises(InputError, match="SEMANTIC_SCORE ranks by similarity with the question"):
        await ask(shared_ward, shared_user, patterns=[{"steps": [HAS]}], ranking="SEMANTIC_SCORE")


async def test_patterns_can_be_disabled(shared_ward: KnowledgeGraph, shared_user: str) -> None:
    disabled = with_settings(shared_ward, patterns_enabled=False)
    with pytest.raises(ConfigurationError, match="KGAGENT_PATTERNS_ENABLED"):
        await ask(disabled, shared_user, patterns=[{"steps": [HAS]}])


async def test_paths_are_found_even_if_the_query_cannot_be_embedded(
    ward: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_texts: object) -> object:
        raise EmbeddingUnavailableError("the model sleeps")

    monkeypatch.setattr(ward.retrieval, "embed_queries", fail)
    result = await ask(ward, user_id, query="Who is ill?", patterns=[{"steps": [HAS]}])
    assert len(result.paths) == 2
    assert result.warnings == ("Omitted the similarity with the question: the model sleeps",)


async def test_chunks_are_texts_linked_to_the_matches_most_similar_first(
    ward: KnowledgeGraph, user_id: str
) -> None:
    texts = ["Ann has had the flu since Monday", "Flu comes in winter", "Gout hurts"]
    vectors = await ward.embedder.embed(texts)
    for text, vector, name in zip(texts, vectors, ["Ann", "Flu", "Gout"], strict=True):
        await cypher(
            ward,
            "MATCH (n:Patient|Condition {user_id: $user, name: $name}) "
            "CREATE (:Chunk {user_id: $user, content: $content, embedding: $vector})-[:ABOUT]->(n)",
            user=user_id,
            name=name,
            content=text,
            vector=list(vector),
        )
    flu = [{"type": "PROPERTY_EQUALS", "property_path": "name", "value": "Flu", "at_step": 0}]
    result = await ask(
        ward, user_id, query=texts[1], patterns=[{"steps": [HAS], "constraints": flu}]
    )
    assert [chunk.text for chunk in result.chunks] == [texts[1], texts[0]]
    assert result.chunks[0].similarity == pytest.approx(1.0, abs=1e-3)
    assert "embedding" not in result.model_dump_json()


async def test_a_query_makes_one_embedding_call(
    ward: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    embed = ward.retrieval.embed_queries

    async def count(texts: Any) -> Any:
        calls.append(texts)
        return await embed(texts)

    monkeypatch.setattr(ward.retrieval, "embed_queries", count)
    await ask(
        ward,
        user_id,
        query="Who is ill?",
        targets=[{"description": "Ann"}],
        patterns=[{"steps": [HAS]}],
    )
    assert len(calls) == 1


async def test_rankings_order_the_same_paths_differently(
    ward: KnowledgeGraph, user_id: str
) -> None:
    await cypher(
        ward,
        "MATCH (:Patient {user_id: $user, name: 'Bo'})-[r:TREATED_BY]->() SET r.weight = 5.0",
        user=user_id,
    )
    steps = [{**TREATED}]
    first = {}
    for ranking in ("EDGE_WEIGHT", "NODE_CENTRALITY"):
        result = await ask(ward, user_id, patterns=[{"steps": steps}], ranking=ranking)
        first[ranking] = [node.name for node in result.paths[0].nodes]
        assert list(result.paths) == sorted(result.paths, key=lambda path: -path.score)
    assert first == {"EDGE_WEIGHT": ["Bo", "Finn"], "NODE_CENTRALITY": ["Ann", "Finn"]}


async def test_centrality_counts_no_relationship_into_another_users_graph(
    ward: KnowledgeGraph, user_id: str
) -> None:
    async def scores() -> list[float]:
        return [
            path.score
            for path in (
                await ask(ward, user_id, patterns=[{"steps": [HAS]}], ranking="NODE_CENTRALITY")
            ).paths
        ]

    before = await scores()
    await cypher(
        ward,
        "MATCH (a:Patient {user_id: $user, name: 'Ann'}), (b:Condition {user_id: $other}) "
        "CREATE (a)-[:HAS_CONDITION]->(b)",
        user=user_id,
        other=f"{user_id}-other",
    )
    assert await scores() == before


async def test_targets_that_fit_no_node_of_a_pattern_are_reported(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    result = await ask(
        shared_ward,
        shared_user,
        targets=[{"description": "Eve"}],
        patterns=[{"steps": [HAS], "pattern_id": "ill"}],
    )
    assert result.warnings == (
        "No target has a label of pattern 'ill': its paths are not limited to the targets",
    )


async def test_a_result_is_complete_if_its_paths_equal_the_limit(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    graph = with_settings(shared_ward, patterns_explored=2)
    assert (await ask(graph, shared_user, patterns=[{"steps": [HAS]}])).context.truncated is False
    result = await ask(graph, shared_user, patterns=[{"steps": [TREATED]}])
    assert result.context.truncated is True
    assert result.context.explored == {"pattern": 2}
    assert result.warnings == (
        "More than 2 paths match; only 2 were ranked. Narrow the pattern to be sure of the best",
    )


async def test_a_query_of_many_patterns_runs_a_few_statements_at_a_time_and_none_twice(
    ward: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    under_way: list[int] = [0]
    read = services_of(ward).store.read

    async def watched(text: str, *args: Any, **more: Any) -> Any:
        texts.append(text)
        under_way.append(under_way[-1] + 1)
        try:
            return await read(text, *args, **more)
        finally:
            under_way.append(under_way[-1] - 1)

    constraint = {
        "type": "REGEX_MATCH",
        "property_path": "name",
        "value": "A.*",
        "at_step": "start",
    }
    await services_of(ward).live_schema.read(user_id)
    monkeypatch.setattr(services_of(ward).store, "read", watched)
    patterns = [{"steps": [HAS], "constraints": [constraint]}] * 12
    result = await ask(ward, user_id, patterns=patterns, ranking="PATH_LENGTH")
    assert [path.start.name for path in result.paths] == ["Ann"]
    assert max(under_way) == 4
    assert len([text for text in texts if "DISTINCT" in text]) == 1


async def test_paths_are_returned_even_if_scoring_and_texts_take_too_long(
    ward: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = services_of(ward).store.read

    async def slow(text: Statement, *args: Any, **more: Any) -> Any:
        if text.name.startswith(("score_path", "find_chunks")):
            raise StatementTimeoutError("it took too long")
        return await read(text, *args, **more)

    monkeypatch.setattr(services_of(ward).store, "read", slow)
    result = await ask(
        ward, user_id, query="Who is ill?", patterns=[{"steps": [HAS]}], ranking="NODE_CENTRALITY"
    )
    assert [path.explanation for path in result.paths] == [
        "PATH_LENGTH 1.000: 1 / 1 relationship"
    ] * 2
    assert result.ranking == "PATH_LENGTH"
    assert result.warnings == (
        "Ranked by PATH_LENGTH: scoring by NODE_CENTRALITY took too long. Narrow the pattern",
        "Omitted the texts near the paths: finding them took too long",
    )


async def test_an_error_of_the_server_reveals_nothing_of_another_user(
    ward: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await cypher(
        ward,
        "MATCH (a:Patient {user_id: $user, name: 'Ann'}) SET a.pin = '0' "
        "CREATE (a)-[:HAS_CONDITION]->(:Condition {user_id: $other, pin: ['SECRET']})",
        user=user_id,
        other=f"{user_id}-other",
    )
    constraint = {"type": "PROPERTY_EQUALS", "property_path": "pin", "value": "2026-01-02"}
    assert (
        await names(
            ward, user_id, {"steps": [{**HAS, "target_label": None}], "constraints": [constraint]}
        )
        == []
    )

    read = services_of(ward).store.read

    async def refused(text: Statement, *args: Any, **more: Any) -> Any:
        if text.name == "match_pattern":
            raise StatementValueError("got: StringArray[SECRET]")
        return await read(text, *args, **more)

    monkeypatch.setattr(services_of(ward).store, "read", refused)
    with pytest.raises(InputError, match="cannot be evaluated on the stored values") as raised:
        await names(ward, user_id, {"steps": [HAS], "constraints": [constraint]})
    assert "SECRET" not in str(raised.value)


async def test_with_a_combinator_patterns_are_not_matched_by_themselves(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    combinator = {"type": "UNION", "patterns": [{"steps": [HAS], "pattern_id": "ill"}]}
    patterns = [{"steps": [TREATED], "pattern_id": "treated"}]
    result = await ask(
        shared_ward, shared_user, combinator=combinator, patterns=patterns, ranking="PATH_LENGTH"
    )
    assert {path.pattern_id for path in result.paths} == {"ill"}
    assert result.warnings == (
        "Ignored patterns: a query with a combinator matches only the combinator's patterns",
    )


async def test_a_result_reports_the_query_its_duration_and_a_context_to_reason_with(
    shared_ward: KnowledgeGraph, shared_user: str
) -> None:
    pattern = {"steps": [TREATED, {**BACK, "max_hops": 2}]}
    result = await ask(
        shared_ward,
        shared_user,
        query="Who shares a doctor?",
        patterns=[pattern],
        ranking="PATH_LENGTH",
    )
    assert (result.strategy, result.query) == ("patterns", "Who shares a doctor?")
    assert result.elapsed_ms > 0
    assert result.metadata == {"matchedPaths": len(result.paths)}
    assert result.context.max_depth == 3
    assert result.context.root_nodes == tuple(
        dict.fromkeys(path.start.entity_key for path in result.paths)
    )
    assert {"Finn", "TREATED_BY"} <= {*result.context.keywords}


async def test_the_limit_holds_for_all_statements_together(
    ward: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = services_of(ward).store.read
    statements = 0

    async def slow(text: str, *args: Any, **more: Any) -> Any:
        nonlocal statements
        statements += 1
        await asyncio.sleep(0.7)
        return await read(text, *args, **more)

    await services_of(ward).live_schema.read(user_id)
    monkeypatch.setattr(services_of(ward).store, "read", slow)
    constraint = {
        "type": "REGEX_MATCH",
        "property_path": "name",
        "value": "A.*",
        "at_step": "start",
    }
    patterns = [
        {"steps": [HAS], "constraints": [constraint], "pattern_id": str(number)}
        for number in range(20)
    ]
    with pytest.raises(SearchError, match=r"took longer than 1\.5 s"):
        await ask(
            with_settings(ward, patterns_timeout=1.5), user_id, query="ill", patterns=patterns
        )
    # No statement alone takes as long as the limit.
    assert statements > 1


async def test_the_time_limit_includes_the_fallback_search(
    ward: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = asyncio.Event()

    async def slow(*_: object, **__: object) -> None:
        try:
            await asyncio.sleep(600.0)
        except asyncio.CancelledError:
            stopped.set()
            raise

    hasty = with_settings(ward, patterns_timeout=4.0)
    monkeypatch.setattr(hasty.retrieval, "hybrid_search", slow)
    nobody = {
        "type": "PROPERTY_EQUALS",
        "property_path": "name",
        "value": "Zoe",
        "at_step": "start",
    }
    pattern = {"steps": [HAS], "constraints": [nobody]}
    result = await ask(hasty, user_id, query="Zoe", patterns=[pattern])
    assert result.warnings[-1] == "Omitted the hybrid search: it took too long"
    assert stopped.is_set()
