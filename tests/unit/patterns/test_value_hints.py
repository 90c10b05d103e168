from typing import Any

import pytest

from kgagent.models.live_schema import LiveLabel, LiveProperty, LiveRelationshipType, LiveSchema, ValueKind
from kgagent.ontology import default_ontology
from kgagent.patterns.hints import value_hints
from kgagent.patterns.step_sequences import step_sequences
from tests.unit.patterns.wards import equals, pattern, step

WORDS = LiveProperty(name="relationship_type", kinds=(ValueKind.TEXT,), examples=("mentor", "old friend"))
SCHEMA = LiveSchema(
    labels=(
        LiveLabel(
            name="Person",
            count=9,
            properties=(
                LiveProperty(name="city", kinds=(ValueKind.TEXT,), examples=("Rome",)),
                LiveProperty(name="age", kinds=(ValueKind.NUMBER,)),
                LiveProperty(name="code", kinds=(ValueKind.NUMBER, ValueKind.TEXT)),
            ),
        ),
        LiveLabel(name="Ship", count=9, properties=(LiveProperty(name="city", kinds=(ValueKind.TEXT,)),)),
    ),
    relationship_types=(
        LiveRelationshipType(
            name="has_relationship_with",
            count=9,
            properties=(LiveProperty(name="attitude", kinds=(ValueKind.NUMBER,)), WORDS),
        ),
    ),
)
ON = {"on": "relationship"}


def hints_for(*constraints: dict[str, Any], label: str | None = "Person") -> list[str]:
    steps = step(label, "has_relationship_with", None)
    [sequence] = step_sequences(pattern(steps, constraints=constraints))
    return [text.removeprefix("pattern 'risk', ") for text in value_hints(sequence, SCHEMA, default_ontology())]


@pytest.mark.parametrize(
    ("constraint", "hint"),
    [
        (
            equals("relationship_type", 0, value="Mentor", **ON),
            "step 0: relationship_type is stored as 'mentor', not 'Mentor'.",
        ),
        (equals("city", "start", value=" ROME "), "the start: city is stored as 'Rome', not ' ROME '."),
        (equals("age", "start", value="forty"), "the start: age is a number, not text such as 'forty'."),
        (
            equals("attitude", -1, value="Friendly", **ON),
            "any step: attitude is a number, not text such as 'Friendly': use 4.",
        ),
        (
            equals("relationship_type", 0, type="PROPERTY_IN", value=["mentor", "Old Friend"], **ON),
            "step 0: relationship_type is stored as 'old friend', not 'Old Friend'.",
        ),
    ],
)
def test_a_value_stored_in_another_form_is_reported(constraint: dict[str, Any], hint: str) -> None:
    assert hints_for(constraint) == [hint]


@pytest.mark.parametrize(
    "constraint",
    [
        equals("relationship_type", 0, value="mentor", **ON),
        equals("relationship_type", 0, value="rival", **ON),
        equals("relationship_type", 0, type="CONTAINS", value="Mentor", **ON),
        equals("age", "start", value=40),
        equals("code", "start", value="A1"),
        equals("city.part", "start", value="rome"),
        equals("city", "start", value_from={"at_step": "end", "property_path": "city"}),
    ],
)
def test_a_value_that_may_be_stored_is_not_reported(constraint: dict[str, Any]) -> None:
    assert hints_for(constraint) == []


def test_only_the_labels_of_a_place_count() -> None:
    assert hints_for(equals("city", "start", value="rome"), label="Ship") == []
    assert len(hints_for(equals("city", "start", value="rome"), label=None)) == 1
