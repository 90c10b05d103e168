import pytest

from kgagent.models.live_schema import LiveSchema
from kgagent.models.pattern import GraphPattern
from kgagent.ontology import default_ontology
from kgagent.patterns.hints import hints
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
            step("Patient", "TREATED_BY", "Doctor", direction="INCOMING"),
            "step 0: no TREATED_BY leads from Doctor to Patient, only the opposite: use direction OUTGOING.",
        ),
        (
            step("Condition", "TREATED_BY", None),
            "step 0: no TREATED_BY leads from Condition; it leads from Patient to Doctor.",
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
        step("Patient", "TREATED_BY", "Doctor"),
        step("Doctor", "TREATED_BY", "Patient", direction="INCOMING"),
        step("Doctor", ["TREATED_BY", "HAS_CONDITION"], "Patient", direction="BOTH"),
        step("Patient", None, "Medication"),
        step(None, "TREATED_BY", None),
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
