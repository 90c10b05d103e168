"""Why patterns match nothing."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.models.pattern_query import GraphQuery
from tests.integration.patterns.conftest import with_settings
from tests.support.ward import plant_ward

HAS = {"source_label": "Patient", "relation_type": "HAS_CONDITION", "target_label": "Condition"}
TREATED = {"source_label": "Patient", "relation_type": "TREATED_BY", "target_label": "Doctor"}


@pytest.fixture
async def ward(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraph:
    await plant_ward(graph, user_id)
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
        constraints = [equals(name, value, "start"), equals("name", "Bo", "start")]
        assert await warnings_of(
            ward, user_id, patterns=[{"steps": [HAS], "constraints": constraints}]
        ) == [
            f"pattern 'pattern', the start: PROPERTY_EQUALS {name} {value!r}, but typical stored "
            f"values are {stored}"
        ]
