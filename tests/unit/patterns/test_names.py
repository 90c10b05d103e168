from typing import Any

import pytest

from kgagent.errors import InputError
from kgagent.models.live_schema import LiveProperty, LiveSchema
from kgagent.models.pattern import GraphPattern
from kgagent.ontology import default_ontology
from kgagent.patterns.names import check_names
from tests.unit.patterns.wards import WARD, equals, joins, label, pattern, step

ONTOLOGY = default_ontology()
TREATED = step("Patient", "TREATED_BY", "Doctor")


def error(*patterns: GraphPattern, schema: LiveSchema = WARD) -> str:
    with pytest.raises(InputError) as raised:
        check_names(patterns, schema, ONTOLOGY)
    return str(raised.value)


def passes(asked: GraphPattern, schema: LiveSchema = WARD) -> None:
    check_names([asked], schema, ONTOLOGY)


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        (pattern(TREATED, step("Doctor", None, "Nurze")), "pattern 'risk', step 1"),
        (
            pattern(TREATED, constraints=[equals("name", "end", node_label="Nurze")]),
            "pattern 'risk', the end",
        ),
        (
            pattern(TREATED, branches=[{"steps": [step(None, None, "Nurze")]}]),
            "pattern 'risk', branch 0, step 0",
        ),
    ],
)
def test_a_label_is_checked_in_every_place(asked: GraphPattern, where: str) -> None:
    assert error(asked).startswith(f"Unknown label 'Nurze' in {where}.")


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (
            equals("properties.nmae"),
            "Unknown property 'nmae' of Doctor in pattern 'risk', step 0. Did you mean name?",
        ),
        (
            equals("contcat.city", "start"),
            "Unknown property 'contcat' of Patient in pattern 'risk', the start.",
        ),
        (
            equals("dose", -1),
            "Unknown property 'dose' of Doctor or Patient in pattern 'risk', any step.",
        ),
        (
            equals("age", -1, node_label="Doctor"),
            "Unknown property 'age' of Doctor in pattern 'risk', any step.",
        ),
        (
            equals("since", on="relationship"),
            "Unknown property 'since' of TREATED_BY in pattern 'risk', step 0.",
        ),
        (
            equals("name", value_from={"at_step": "start", "property_path": "nick"}),
            "Unknown property 'nick' of Patient in pattern 'risk', value_from the start.",
        ),
    ],
)
def test_a_property_is_checked_on_the_labels_of_its_nodes(
    constraint: dict[str, Any], message: str
) -> None:
    assert error(pattern(TREATED, constraints=[constraint])).startswith(message)


def test_the_labels_of_adjacent_steps_and_of_a_closed_cycle_apply() -> None:
    asked = pattern(
        step("Patient", "TREATED_BY", None),
        step("Doctor", "TREATED_BY", "Patient", direction="INCOMING"),
        constraints=[equals("age", 0)],
        branches=[
            {
                "at_step": "start",
                "steps": [TREATED | {"source_label": None}],
                "constraints": [equals("age")],
            }
        ],
    )
    assert error(asked).startswith(
        "Unknown property 'age' of Doctor in pattern 'risk', step 0. Existing properties"
    )
    cycle = pattern(
        TREATED, step(None, None, None), cycle=True, constraints=[equals("specialty", "end")]
    )
    assert "Unknown property 'specialty' of Patient" in error(cycle)


def test_a_name_that_may_not_have_been_read_is_no_error() -> None:
    schema = LiveSchema(
        labels=(label("Patient", "name", sampled=True),),
        relationship_types=(joins("KNOWS", sampled=True),),
    )
    asked = pattern(
        step("Patient", "KNOWS", "Patient"),
        constraints=[equals("nmae"), equals("sicne", on="relationship")],
    )
    passes(asked, schema)
    passes(pattern(step("Unread", "UNREAD", None)), LiveSchema(is_partial=True))


def test_properties_that_every_node_of_the_ontology_has_exist() -> None:
    schema = LiveSchema(
        labels=(label("Person", "name"),), relationship_types=(joins("engages_with"),)
    )
    asked = pattern(
        step("Person", "engages_with", None),
        constraints=[
            equals("notes", "start"),
            equals("attitude", 0, on="relationship"),
            equals("confidence", 0, on="relationship"),
        ],
    )
    passes(asked, schema)
    hidden = pattern(
        step("Person", "engages_with", None), constraints=[equals("is_dirty", 0, on="relationship")]
    )
    assert "Unknown property 'is_dirty' of engages_with" in error(hidden, schema=schema)


@pytest.mark.parametrize(
    ("examples", "begin", "value"),
    [(("mentor", "friend"), "It is", "mentor"), ((), "If it is", "Mentor")],
)
def test_a_free_type_in_place_of_a_neo4j_type_is_answered_with_a_constraint(
    examples: tuple[str, ...], begin: str, value: str
) -> None:
    free = LiveProperty(name="relationship_type", examples=examples)
    kind = joins("has_relationship_with", ("Person", "Person")).model_copy(
        update={"properties": (free,)}
    )
    schema = LiveSchema(labels=(label("Person", "name"),), relationship_types=(kind,))
    message = error(pattern(step("Person", "Mentor", "Person")), schema=schema)
    assert f"{begin} a value of the property relationship_type: omit relation_type" in message
    assert (
        f'"on": "relationship", "property_path": "relationship_type", "value": "{value}"' in message
    )
    assert "relationship_type" not in error(pattern(step("Patient", "MENTOR", None))).replace(
        "relationship type", ""
    )


@pytest.mark.parametrize("name", ["old_Embedding", "embedding_hash", "user_id"])
def test_a_hidden_property_is_unknown_even_if_the_schema_is_incomplete(name: str) -> None:
    schema = LiveSchema(labels=(label("Patient", "name", sampled=True),), is_partial=True)
    asked = pattern(step("Patient", None, None), constraints=[equals(name, "start")])
    assert f"Unknown property '{name}' of Patient" in error(asked, schema=schema)
