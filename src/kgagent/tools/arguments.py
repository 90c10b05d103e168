"""Arguments that several tools share: names, notes, levels, the nodes of a relationship, and
labels.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    Field,
    StrictInt,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from kgagent.graph.aliases import MAX_ALIASES
from kgagent.graph.node_name import NodeName, clean_name
from kgagent.models.fields import EntityKey, FilledText, ShortText
from kgagent.models.request import RequestModel
from kgagent.models.when import When
from kgagent.ontology import Ontology
from kgagent.ontology.model import same_but_case

ItemT = TypeVar("ItemT")
LabelT = TypeVar("LabelT", str, str | None)

Aliases = Annotated[list[NodeName], Field(max_length=MAX_ALIASES)]
"""Other names of a node."""

Format = Annotated[
    Literal["json", "text"] | None, Field(description="How to answer. Default: text.")
]
"""Form of an answer of a tool that reads. None is text for a model, and a dictionary for Python."""


class Arguments(RequestModel):
    """Base of the arguments of all tools; unknown arguments are rejected, so that a misspelled name
    is noticed.

    The schema that a model reads has no `format`, with which a program asks for JSON, and no
    `verbose`, as a model has tools that read.

    Attributes:
        other_names: names under which models give an argument, with the name that an error
            suggests.
    """

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"format", "verbose"})
    other_names: ClassVar[Mapping[str, str]] = {}


IdempotencyKey = Annotated[
    str | None,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    Field(
        description=(
            "Calls with the same key create each node once. For programs that repeat a call after "
            "a failure."
        )
    ),
]


WHEN_NAMES = AliasChoices("when", "date", "time", "occurred_at", "happened_at", "timestamp")
"""Names under which models give the time of a statement."""

GivenWhen = Annotated[
    When | None,
    Field(validation_alias=WHEN_NAMES, description="2023-02-04, 2019/2021, 2024/.."),
]


Quote = Annotated[FilledText | None, Field(description="Words of its source.")]
"""Words of the text of a note's source; see `kgagent.graph.quotes`."""


SourceName = Annotated[EntityKey, AfterValidator(clean_name)]
"""A node that something comes from; a name that no node has becomes a source."""


class NewNote(Arguments):
    """A note to add."""

    content: FilledText = Field(description="One fact, as a sentence.")
    when: GivenWhen = None
    lifetime: ShortText | None = Field(None, description="How long it is kept.")
    source_entity_key: SourceName | None = Field(
        None,
        validation_alias=AliasChoices("source_entity_key", "source"),
        description="entity_key or name of the source of the fact.",
    )
    quote: Quote = None


CORRECTION = "The old was wrong."
"""Description of an argument: whether the history marks replaced values as wrong, not as former."""

Verbose = Annotated[bool, Field(description="Show the record.")]
"""Whether the answer of a tool that writes has the record, and not only what changed."""


Notes = Annotated[
    list[NewNote | FilledText],
    Field(max_length=100),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
"""Notes to add: objects, or only their texts, which is all that the schema of a model has."""


FROM_NAMES = AliasChoices(
    "from_entity_key", "from", "from_key", "from_node", "from_name", "source", "start"
)
TO_NAMES = AliasChoices("to_entity_key", "to", "to_key", "to_node", "to_name", "target", "end")
"""Names under which models give the two nodes of a relationship."""

DIRECTION_HINT = "Nodes in either order."
"""Part of the description of tools that take the nodes in either order."""


Neo4jType = Annotated[
    ShortText | None,
    Field(description="Needed only if several types connect the labels."),
]


RelationshipId = Annotated[
    ShortText | None, Field(description="Which of several, as get_relationship lists them.")
]
"""Graphs of other programs have several relationships of a type between two nodes; it is not in the
schema, as errors name it where it is needed.
"""


class RelationshipEnds(Arguments):
    """The two nodes of a relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"relationship_id"})

    from_entity_key: EntityKey = Field(
        validation_alias=FROM_NAMES, description="First node: entity_key or name."
    )
    to_entity_key: EntityKey = Field(validation_alias=TO_NAMES, description="Second node.")
    neo4j_type: Neo4jType = None
    relationship_id: RelationshipId = None


def _check_level(value: object, check: ValidatorFunctionWrapHandler) -> object:
    """Check a level with one error, instead of one for each type that it may have; 2.0 is 2."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError("level", "must be 1 to 5 or a word of the ontology") from None


Attitude = Annotated[
    StrictInt | ShortText | None,
    WrapValidator(_check_level),
    WithJsonSchema({"type": "integer"}),
    Field(description="How favorable, 1 to 5."),
]
"""1 to 5; a word of the ontology is accepted too."""

Proximity = Annotated[
    StrictInt | ShortText | None,
    WrapValidator(_check_level),
    WithJsonSchema({"type": "integer"}),
    Field(description="How close, 1 to 5."),
]
Confidence = Annotated[
    float | None, Field(ge=0.0, le=1.0, description="How certain it is, 0 to 1.")
]
Salience = Annotated[
    float | None, Field(ge=0.0, le=1.0, description="How important it is to the user, 0 to 1.")
]


def known_label(ontology: Ontology, label: LabelT) -> LabelT:
    """The label of the ontology that differs from a given one only in letter case; without one,
    what was given.
    """
    return label if label is None else same_but_case(ontology.labels, label)


def known_labels(ontology: Ontology, labels: Sequence[str] | None) -> tuple[str, ...] | None:
    """Like `known_label`, for each label."""
    return None if labels is None else tuple(known_label(ontology, label) for label in labels)


def describe_lifetimes(ontology: Ontology) -> str:
    """The lifetimes of notes, for the description of a tool."""
    return (
        f"Lifetimes: {', '.join(ontology.note_lifetimes_in_days)} (default "
        f"{ontology.default_note_lifetime})."
    )
