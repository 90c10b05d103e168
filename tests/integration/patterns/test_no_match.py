"""Why patterns match nothing."""

import asyncio
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.graph.statements import Statement
from kgagent.knowledge_graph import services_of
from kgagent.models.pattern_query import GraphQuery
from tests.integration.patterns.conftest import with_settings
from tests.support.stored import cypher
from tests.support.ward import plant_ward

HAS = {"source_label": "Patient", "relation_type": "HAS_CONDITION", "target_label": "Condition"}
TREATED = {"source_label": "Patient", "relation_type": "TREATED_BY", "target_label": "Doctor"}
KNOWS = {"source_label": "Patient", "relation_type": "KNOWS", "target_label": "Patient"}


@pytest.fixture
async def ward(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraph:
    """The hospital of the user, in which Ann knows Bo, and the same of another, in which Bo knows
    Ann.
    """
    for owner, who, whom in ((user_id, "Ann", "Bo"), (f"{user_id}-other", "Bo", "Ann")):
        await plant_ward(graph, owner)
        await cypher(
            graph,
            "MATCH (a:Patient {user_id: $user, name: $who}), (b:Patient {user_id: $user, name: "
            "$whom}) "
            "SET a.entity_key = $user + '-' + $who, b.entity_key = $user + '-' + $whom CREATE "
            "(a)-[:KNOWS]->(b)",
            user=owner,
            who=who,
            whom=whom,
        )
    # A busy machine changes nothing.
    return with_settings(graph, patterns_timeout=120.0)


def equals(name: str, value: object, place: int | str) -> dict[str, Any]:
    return {"type": "PROPERTY_EQUALS", "property_path": name, "value": value, "at_step": place}


async def warnings_of(graph: KnowledgeGraph, user_id: str, **query: Any) -> list[str]:
    result = await graph.query_patterns(GraphQuery.model_validate(query), user_id=user_id)
    assert result.paths == ()
    assert result.warnings[0] == "No path matches"
    return list(result.warnings[1:])


@pytest.mark.parametrize(
    ("step", "excluded"),
    [
        (
            {**TREATED, "target_label": "Condition"},
            "no TREATED_BY connects Patient and Condition in direction OUTGOING; TREATED_BY leads "
            "from Patient to "
            "Doctor, TREATED_BY leads from Patient to Surgeon",
        ),
        (
            {**HAS, "direction": "INCOMING"},
            "no HAS_CONDITION connects Patient and Condition in direction INCOMING; HAS_CONDITION "
            "leads from Patient "
            "to Condition",
        ),
        (
            {
                "source_label": "Doctor",
                "relation_type": "HAS_CONDITION",
                "direction": "BOTH",
                "max_hops": 3,
            },
            "no HAS_CONDITION connects Doctor and any node in direction BOTH; HAS_CONDITION leads "
            "from Patient to "
            "Condition",
        ),
        (
            {"source_label": "Patient", "relation_type": "engages_with"},
            "no engages_with connects Patient and any node in direction OUTGOING",
        ),
    ],
)
async def test_a_step_that_the_schema_excludes_is_reported_with_what_its_type_connects(
    ward: KnowledgeGraph, user_id: str, step: dict[str, Any], excluded: str
) -> None:
    branch = {"at_step": "start", "steps": [step]}
    for pattern, where in (
        ({"steps": [step]}, ""),
        ({"steps": [HAS], "branches": [branch]}, "branch 0, "),
    ):
        assert await warnings_of(ward, user_id, patterns=[pattern]) == [
            f"pattern 'pattern', {where}step 0: {excluded}"
        ]


async def test_stored_values_are_listed_if_a_constraint_requires_another(
    ward: KnowledgeGraph, user_id: str
) -> None:
    for name, value, stored in (("name", "ANN", "'Ann', 'Bo'"), ("age", "old", "number")):
        [warning] = await warnings_of(
            ward,
            user_id,
            patterns=[{"steps": [HAS], "constraints": [equals(name, value, "start")]}],
        )
        assert warning == (
            f"Pattern 'pattern' matches without the constraint PROPERTY_EQUALS {name} {value!r} at "
            f"the start "
            f"(stored: {stored})"
        )


async def test_the_constraint_that_nothing_satisfies_is_named(
    ward: KnowledgeGraph, user_id: str
) -> None:
    pattern = {
        "steps": [HAS],
        "constraints": [equals("name", "Ann", "start"), equals("name", "Gout", 0)],
    }
    assert await warnings_of(ward, user_id, patterns=[pattern]) == [
        "Pattern 'pattern' matches without the constraint PROPERTY_EQUALS name 'Ann' at the start",
        "Pattern 'pattern' matches without the constraint PROPERTY_EQUALS name 'Gout' at step 0",
    ]


async def test_a_constraint_that_should_apply_to_one_node_is_named(
    ward: KnowledgeGraph, user_id: str
) -> None:
    assert await warnings_of(
        ward, user_id, patterns=[{"steps": [HAS], "constraints": [equals("name", "Ann", -1)]}]
    ) == [
        "Pattern 'pattern' matches without the constraint PROPERTY_EQUALS name 'Ann' at every node"
    ]


async def test_targets_that_exclude_everything_are_reported(
    ward: KnowledgeGraph, user_id: str
) -> None:
    warnings = await warnings_of(
        ward,
        user_id,
        targets=[{"description": "Bo", "label": "Patient"}],
        patterns=[{"steps": [KNOWS]}],
    )
    assert warnings == [
        "Pattern 'pattern' matches without a target at the start",
        "Pattern 'pattern' matches with direction INCOMING at step 0",
    ]


async def test_a_branch_that_excludes_everything_is_named(
    ward: KnowledgeGraph, user_id: str
) -> None:
    branch = {"at_step": "start", "steps": [{"relation_type": "TREATED_BY"}], "at_most": 0}
    assert await warnings_of(
        ward, user_id, patterns=[{"pattern_id": "ill", "steps": [HAS], "branches": [branch]}]
    ) == ["Pattern 'ill' matches without branch 0"]


async def test_patterns_that_share_another_node_are_reported(
    ward: KnowledgeGraph, user_id: str
) -> None:
    back = {"relation_type": "TREATED_BY", "target_label": "Patient", "direction": "INCOMING"}
    patterns = [
        {"pattern_id": "knows", "steps": [KNOWS], "constraints": [equals("name", "Ann", "start")]},
        {
            "pattern_id": "shares",
            "steps": [TREATED, back],
            "constraints": [equals("name", "Bo", "end")],
        },
    ]
    assert await warnings_of(
        ward, user_id, combinator={"type": "INTERSECTION", "patterns": patterns, "join_on": 0}
    ) == [
        "Each pattern matches alone, but they have no common node at step 0",
    ]


async def test_a_sequence_of_patterns_that_cannot_follow_each_other_is_reported(
    ward: KnowledgeGraph, user_id: str
) -> None:
    patterns = [
        {"pattern_id": "ill", "steps": [HAS]},
        {"pattern_id": "cared for", "steps": [TREATED]},
    ]
    assert await warnings_of(
        ward, user_id, combinator={"type": "SEQUENTIAL", "patterns": patterns}
    ) == ["Each pattern matches alone, but none starts where the previous one ends"]


async def test_another_users_graph_makes_no_difference(ward: KnowledgeGraph, user_id: str) -> None:
    constraints = [equals("name", "Bo", "start"), equals("name", "Ann", "end")]
    warnings = await warnings_of(
        ward, user_id, patterns=[{"steps": [KNOWS], "constraints": constraints}]
    )
    assert warnings == ["Pattern 'pattern' matches with direction INCOMING at step 0"]


async def test_a_diagnosis_that_takes_too_long_is_omitted(
    ward: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, matched = services_of(ward).store.read, 0

    async def slow_variants(text: Statement, *args: Any, **more: Any) -> Any:
        nonlocal matched
        matched += text.name == "match_pattern"
        if matched > 1:
            await asyncio.sleep(600.0)
        return await read(text, *args, **more)

    monkeypatch.setattr(services_of(ward).store, "read", slow_variants)
    pattern = {"steps": [HAS], "constraints": [equals("name", "Zoe", "start")]}
    assert (
        await warnings_of(with_settings(ward, patterns_timeout=4.0), user_id, patterns=[pattern])
        == []
    )
    assert matched > 1
