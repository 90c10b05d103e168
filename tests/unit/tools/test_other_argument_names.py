"""Errors about argument names that models use instead of the right ones."""

from typing import Any

import pytest
from pydantic import BaseModel

from kgagent.errors import InputError
from kgagent.tools.deletion_tools import DeleteNodeArguments
from kgagent.tools.get_relationship import GetRelationshipArguments
from kgagent.tools.items import (
    RememberArguments,
    RememberedNode,
    RememberedNote,
    RememberedRelationship,
)
from kgagent.tools.merge_nodes import MergeNodesArguments
from kgagent.validation import validate

HINTS: list[tuple[type[BaseModel], dict[str, Any], dict[str, str]]] = [
    (
        RememberArguments,
        {},
        {"entities": "nodes", "people": "nodes", "relations": "relationships", "facts": "notes"},
    ),
    (
        RememberedNode,
        {"name": "Ada"},
        {"type": "label", "entityType": "label", "observations": "notes"},
    ),
    (
        RememberedRelationship,
        {},
        {"fromEntityKey": "from", "toEntityKey": "to", "type": "relationship_type"},
    ),
    (RememberedNote, {}, {"node": "on", "entity_key": "on", "text": "content"}),
    (MergeNodesArguments, {}, {"from": "drop_entity_key", "to": "keep_entity_key"}),
    (DeleteNodeArguments, {}, {"name": "entity_key"}),
    (
        GetRelationshipArguments,
        {},
        {"fromEntityKey": "from_entity_key", "toEntityKey": "to_entity_key"},
    ),
]


@pytest.mark.parametrize(
    ("model", "more", "names"), HINTS, ids=lambda value: getattr(value, "__name__", "")
)
def test_the_error_names_the_argument_that_is_meant(
    model: type[BaseModel], more: dict[str, Any], names: dict[str, str]
) -> None:
    for wrong, right in names.items():
        with pytest.raises(InputError) as error:
            validate(model, {**more, wrong: "x"})
        assert f"unknown argument {wrong}: did you mean {right}?" in str(error.value)


def test_fields_of_an_item_given_beside_the_lists_belong_into_a_list() -> None:
    with pytest.raises(InputError) as error:
        validate(
            RememberArguments,
            {"label": "Person", "name": "Ada", "content": "Rows.", "colour": "red"},
        )
    assert str(error.value).split("; ") == [
        "unknown argument label: put it into nodes: [{…}]",
        "unknown argument name: put it into nodes: [{…}]",
        "unknown argument content: put it into notes: [{…}]",
        "unknown argument colour",
    ]


def test_a_relationship_accepts_other_names_of_its_nodes() -> None:
    item = validate(RememberedRelationship, {"source": "Ada", "target": "me"})
    assert (item.from_, item.to) == ("Ada", "me")


@pytest.mark.parametrize(
    ("on", "problem"), [([], "have at least 1 item"), (["a", "b", "c"], "be a node, or the two")]
)
def test_the_number_of_nodes_of_a_note_is_checked(on: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=f"on must {problem}"):
        validate(RememberedNote, {"on": on, "content": "x"})
