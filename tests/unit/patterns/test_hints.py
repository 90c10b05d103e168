from typing import Any

import pytest

from kgagent.models.live_schema import LiveLabel, LiveProperty, LiveRelationshipType, LiveSchema, ValueKind
from kgagent.models.pattern import GraphPattern
from kgagent.ontology import default_ontology
from kgagent.patterns.hints import hints, value_hints
from kgagent.patterns.step_sequences import step_sequences
from tests.unit.patterns.wards import WARD, equals, joins, label, pattern, step


def hints_for(asked: GraphPattern, schema: LiveSchema = WARD) -> list[str]:
    return [text.removeprefix("pattern 'risk', ") for text in hints([asked], schema, default_ontology())]


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        (
            step("Patient", "TREATED_BY", "Medication"),
            "step 0: no TREATED_BY leads from Patient to Medication; it leads from Patient to Doctor.",
        ),
        (
            step("Doctor", "TREATED_BY", "Patient"),
            "step 0: no TREATED_BY leads from Doctor to Patient, only the opposite: use direction INCOMING.",
        ),
        (
            step("Condition", ["TREATED_BY", "HAS_CONDITION"], "Medication", direction="BOTH"),
            "step 0: no HAS_CONDITION or TREATED_BY connects Condition and Medication; "
            "HAS_CONDITION leads from Patient to Condition, TREATED_BY leads from Patient to Doctor.",
        ),
        (
            step("Doctor", None, "Medication"),
            "step 0: no relationship leads from Doctor to Medication; TREATED_BY leads from Patient to Doctor, "
            "PRESCRIBED_MEDICATION leads from Patient to Medication, HAS_CONDITION leads from Patient to Condition.",
        ),
        (
            step("Doctor", "HAS_CONDITION", "Condition", max_hops=3),
            "step 0: no HAS_CONDITION leads from Doctor; it leads from Patient to Condition.",
        ),
        (step("Person", "TREATED_BY", "Doctor"), "step 0: there is no node with label Person."),
        (step("Patient", "engages_with", None), "step 0: there is no relationship of type engages_with."),
    ],
)
def test_a_step_that_nothing_can_match_is_reported(asked: dict[str, object], hint: str) -> None:
    assert hints_for(pattern(asked)) == [hint]


@pytest.mark.parametrize(
    "asked",
    [
        step("Doctor", "TREATED_BY", "Patient", direction="INCOMING"),
        step("Doctor", ["TREATED_BY", "HAS_CONDITION"], "Patient", direction="BOTH"),
        step("Patient", None, "Medication"),
        step("Patient", None, "Patient", direction="BOTH", max_hops=4),
    ],
)
def test_a_step_that_may_match_is_not_reported(asked: dict[str, object]) -> None:
    assert hints_for(pattern(asked)) == []


def test_labels_come_from_adjacent_steps_and_branches_are_checked() -> None:
    asked = pattern(
        step("Patient", "TREATED_BY", None),
        step("Doctor", None, None, direction="BOTH"),
        branches=[{"at_step": 0, "steps": [step(None, "HAS_CONDITION", None)]}],
    )
    assert hints_for(asked) == [
        "branch 0, step 0: no HAS_CONDITION leads from Doctor; it leads from Patient to Condition."
    ]


def test_a_partly_read_schema_is_reported_as_such() -> None:
    schema = LiveSchema(
        labels=(label("Patient", "name", sampled=True), label("Doctor")),
        relationship_types=(joins("TREATED_BY", ("Patient", "Doctor"), sampled=True),),
    )
    asked = pattern(step("Patient", "TREATED_BY", "Patient"), constraints=[equals("nmae")])
    assert hints_for(asked, schema) == [
        "step 0: none of the sampled TREATED_BY leads from Patient to Patient; it leads from Patient to Doctor.",
        "Found no property 'nmae' of Patient: pattern 'risk', step 0. Did you mean name?",
    ]
    assert hints_for(asked, schema.model_copy(update={"is_partial": True}))[0].startswith("Found no property")


def test_hints_are_few() -> None:
    asked = [pattern(step("Doctor", "HAS_CONDITION", None), pattern_id=str(number)) for number in range(30)]
    assert len(hints(asked, WARD, default_ontology())) == 10


WORDS = LiveProperty(name="relationship_type", kinds=(ValueKind.TEXT,), examples=("mentor", "old friend"))
PEOPLE = LiveSchema(
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


def value_hints_for(*constraints: dict[str, Any], label: str | None = "Person") -> list[str]:
    steps = step(label, "has_relationship_with", None)
    [sequence] = step_sequences(pattern(steps, constraints=constraints))
    return [text.removeprefix("pattern 'risk', ") for text in value_hints(sequence, PEOPLE, default_ontology())]


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
    assert value_hints_for(constraint) == [hint]


@pytest.mark.parametrize(
    "constraint",
    [
        equals("relationship_type", 0, value="rival", **ON),
        equals("relationship_type", 0, type="CONTAINS", value="Mentor", **ON),
        equals("age", "start", value=40),
        equals("code", "start", value="A1"),
        equals("city.part", "start", value="rome"),
        equals("city", "start", value_from={"at_step": "end", "property_path": "city"}),
    ],
)
def test_a_value_that_may_be_stored_is_not_reported(constraint: dict[str, Any]) -> None:
    assert value_hints_for(constraint) == []


def test_only_the_labels_of_a_place_count() -> None:
    assert value_hints_for(equals("city", "start", value="rome"), label="Ship") == []
    assert len(value_hints_for(equals("city", "start", value="rome"), label=None)) == 1
