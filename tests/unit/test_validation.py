"""Validation errors as an agent or a user reads them."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, create_model

from kgagent.errors import InputError
from kgagent.names import closest_names
from kgagent.tools.explore import ExploreArguments
from kgagent.tools.payload import failure
from kgagent.tools.query_patterns import QueryPatternsArguments
from kgagent.tools.write_tools import (
    AddNoteToRelationshipArguments,
    CreateNodeArguments,
    CreateRelationshipArguments,
)
from kgagent.validation import (
    MAX_DEPTH,
    MAX_FIELDS,
    MAX_PROBLEMS,
    check_size,
    explain_validation_error,
    validate,
)

RELATIONSHIP = {"from_entity_key": "a", "to_entity_key": "b", "relationship_type": "friend"}


def wrong(model: type[BaseModel], arguments: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(arguments)
    return explain_validation_error(refused.value, model)


@pytest.mark.parametrize(
    ("model", "arguments", "said"),
    [
        (CreateNodeArguments, {"name": "A"}, "label is missing"),
        (
            CreateNodeArguments,
            {"label": "Person", "name": "A", "colour": 1},
            "unknown argument colour",
        ),
        (CreateNodeArguments, {"label": "Person", "name": "A", "int": 1}, "unknown argument int"),
        (
            CreateNodeArguments,
            {"label": "Person", "name": " "},
            "name must not be empty, got ' '",
        ),
        (CreateNodeArguments, {"label": "Person", "name": None}, "name is missing"),
        (
            CreateNodeArguments,
            {"label": "Person", "name": "\ud800"},
            "name must be text without unpaired surrogates, got '\\ud800'",
        ),
        (
            CreateNodeArguments,
            {"label": "Person", "name": "A", "notes": [{"content": ""}]},
            "notes.0.content must not be empty, got ''",
        ),
        (
            CreateRelationshipArguments,
            {**RELATIONSHIP, "attitude": 4.5},
            "attitude must be 1 to 5 or a word of the ontology, got 4.5",
        ),
        (
            ExploreArguments,
            {"queries": [{"query": "x", "threshold": 2}]},
            "queries.0.threshold must be at most 1, got 2",
        ),
        (ExploreArguments, {"format": "xml"}, "format must be 'json' or 'text', got 'xml'"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(
    model: type[BaseModel], arguments: dict[str, Any], said: str
) -> None:
    assert wrong(model, arguments) == said


STEP = {"source_label": "Person"}
INTO = "patterns.0.steps.0"


def pattern(**step: object) -> dict[str, Any]:
    return {"patterns": [{"steps": [{**STEP, **step}]}]}


def combined(**step: object) -> dict[str, Any]:
    return {"combinator": {"type": "UNION", **pattern(**step)}}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            pattern(direction="up"),
            f"{INTO}.direction must be 'OUTGOING', 'INCOMING' or 'BOTH', got 'up'",
        ),
        (
            combined(direction="up"),
            f"combinator.{INTO}.direction must be 'OUTGOING', 'INCOMING' or 'BOTH', got 'up'",
        ),
        ({"patterns": [{"steps": []}]}, "patterns.0.steps must not be empty, got []"),
        ({"patterns": 7}, "patterns must be a list, got 7"),
        (pattern(relation_type=4), f"{INTO}.relation_type must be text or a list, got 4"),
        (
            pattern(min_hops=3, max_hops=2),
            f"{INTO}: min_hops must not be above max_hops, got 3 and 2",
        ),
        ({}, "the query is empty: give patterns, a combinator, targets, or a query in plain words"),
        (
            {"query": "x", "one_path_per": 9},
            "one_path_per must be below 8 or 'start' or 'end', got 9",
        ),
    ],
)
def test_an_invalid_pattern_is_described_once(arguments: dict[str, Any], said: str) -> None:
    assert wrong(QueryPatternsArguments, arguments) == said


def test_a_value_of_a_union_is_described_once() -> None:
    notes = [7, "", {"contents": "x"}]
    assert wrong(CreateNodeArguments, {"label": "Person", "name": "A", "notes": notes}).split(
        "; "
    ) == [
        "notes.0 must be an object or text, got 7",
        "notes.1 must not be empty, got ''",
        "notes.2.content is missing",
        "unknown argument notes.2.contents: did you mean content?",
    ]


def test_a_note_takes_its_time_under_several_names_and_in_edtf_only() -> None:
    note = {"from_entity_key": "a", "to_entity_key": "b", "content": "They met"}
    assert (
        AddNoteToRelationshipArguments.model_validate({**note, "occurred_at": "2026-05-03"}).when
        == "2026-05-03"
    )
    said = "date: must be a date or a period such as 2023-02-04"
    assert wrong(AddNoteToRelationshipArguments, {**note, "date": "last Friday"}).startswith(said)


@pytest.mark.parametrize(
    ("model", "arguments", "said"),
    [
        (
            ExploreArguments,
            {"text_match": ["x"]},
            "unknown argument text_match: did you mean text_matches?",
        ),
        (
            QueryPatternsArguments,
            pattern(direktion="IN"),
            f"unknown argument {INTO}.direktion: did you mean direction?",
        ),
        (
            QueryPatternsArguments,
            combined(direktion="IN"),
            f"unknown argument combinator.{INTO}.direktion: did you mean direction?",
        ),
        (
            QueryPatternsArguments,
            {"query": "x", "traversal": {"depth": 2}},
            "unknown argument traversal.depth: did you mean max_depth?",
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_closest_name_of_the_same_object(
    model: type[BaseModel], arguments: dict[str, Any], said: str
) -> None:
    assert wrong(model, arguments) == said


def test_a_long_value_is_shortened() -> None:
    said = wrong(CreateRelationshipArguments, {**RELATIONSHIP, "relationship_type": "x" * 1_000})
    assert said.startswith("relationship_type must have at most 200 characters, got 1,000: 'xxx")
    assert said.endswith("x...")
    assert len(said) < 250


def test_a_boolean_is_not_a_level() -> None:
    said = wrong(CreateRelationshipArguments, {**RELATIONSHIP, "attitude": True})
    assert said == "attitude must be 1 to 5 or a word of the ontology, got True"


@pytest.mark.parametrize(
    "text", ["two\nlines", "a\tb", "a\0b", "a\udc00b", "a\u2028b", "x" * 100_000]
)
def test_an_error_is_one_short_line_that_any_surface_can_write(text: str) -> None:
    error = failure(text)["error"]
    assert error.isprintable()
    assert len(error) <= 2_000
    error.encode()


MISNAMED = {
    "from_entity_kye": "a",
    "to_entity_kye": "b",
    "relation_type": "x",
    "atitude": 3,
    "desciption": "x",
}
TOO_MANY_PROBLEMS: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (
        CreateNodeArguments,
        {"label": "Person", "name": "A", **{f"nmae{i}": 1 for i in range(8_000)}},
    ),
    (
        QueryPatternsArguments,
        {"patterns": [{"steps": [{"relation_typ": "x", "sorce_label": "y"}] * 8}] * 20},
    ),
]


@pytest.mark.parametrize(("model", "arguments"), TOO_MANY_PROBLEMS)
def test_many_problems_take_bounded_work_to_describe(
    model: type[BaseModel], arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    suggestions: list[str] = []

    def counting_closest_names(name: str, existing: list[str]) -> list[str]:
        suggestions.append(name)
        return closest_names(name, existing)

    monkeypatch.setattr("kgagent.validation.closest_names", counting_closest_names)
    with pytest.raises(InputError) as refused:
        validate(model, arguments)
    assert len(suggestions) <= 2 * MAX_PROBLEMS
    assert str(refused.value).count("; ") <= MAX_PROBLEMS
    assert len(str(refused.value)) < MAX_PROBLEMS * 400


def test_an_error_with_more_problems_than_it_describes_says_so() -> None:
    text = wrong(
        CreateNodeArguments,
        {"label": "Person", "name": "A", **{f"x{i}": 1 for i in range(MAX_PROBLEMS + 1)}},
    )
    assert text.startswith("unknown argument x0; unknown argument x1")
    assert text.endswith("; and more problems of this kind")


def test_the_known_arguments_are_validated_among_very_many_unknown_ones() -> None:
    given = {**{f"x{i}": 1 for i in range(5_000)}, "label": "Person", "name": ""}
    with pytest.raises(InputError, match=r"^name must not be empty, got ''; unknown argument x0;"):
        validate(CreateNodeArguments, given)


def test_secrets_are_not_repeated_and_fields_have_another_noun() -> None:
    model = create_model(
        "Login", password=(int, ...), user=(str, ...), __config__={"extra": "forbid"}
    )
    with pytest.raises(ValidationError) as refused:
        model.model_validate({"password": "hush", "usr": "me"})
    text = explain_validation_error(refused.value, model, noun="setting", show_values=False)
    assert (
        text
        == "password must be a whole number; user is missing; unknown setting usr: did you mean user?"
    )


def refused(data: object, max_values: int = 100) -> str:
    with pytest.raises(InputError) as raised:
        check_size(data, max_values=max_values, noun="A call")
    return str(raised.value)


def nested(levels: int) -> Any:
    data: Any = 1
    for _ in range(levels):
        data = [data]
    return data


def test_data_within_the_limits_is_accepted() -> None:
    check_size({"a": [1] * 98, "b": "text"}, max_values=100, noun="A call")
    check_size(nested(MAX_DEPTH), max_values=100, noun="A call")
    check_size({f"k{i}": None for i in range(MAX_FIELDS)}, max_values=MAX_FIELDS, noun="A call")


def test_too_many_values_are_refused_with_their_number() -> None:
    assert (
        refused({"a": [1] * 5_000})
        == "A call may have at most 100 values, got a list of 5,000. Split it"
    )
    assert (
        refused({"a": [[1] * 60, [1] * 60]})
        == "A call may have at most 100 values, got at least 123. Split it"
    )


def test_an_object_with_too_many_fields_is_refused() -> None:
    assert refused({"a": {f"k{i}": i for i in range(300)}}, 1_000) == (
        "A call may have at most 200 fields in one object, got 300"
    )


def test_values_that_are_nested_too_deeply_are_refused() -> None:
    assert (
        refused(nested(MAX_DEPTH + 1))
        == f"A call may be nested at most {MAX_DEPTH} levels deep, got more. Flatten it"
    )
