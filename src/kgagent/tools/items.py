"""The items that tools write: nodes, relationships and notes. Each is validated on its own, so that
an invalid one does not reject the others.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from kgagent.graph.node_name import NodeName
from kgagent.graph.reference_forms import MAX_REFERENCE_LENGTH
from kgagent.graph.sources import SourceWords
from kgagent.models.fields import EntityKey, FilledText, ShortText, Text
from kgagent.models.request import parsed_json
from kgagent.models.when import WhenPeriod
from kgagent.tools.arguments import (
    CORRECTION,
    FROM_NAMES,
    TO_NAMES,
    Aliases,
    Arguments,
    Attitude,
    Confidence,
    GivenWhen,
    IdempotencyKey,
    Neo4jType,
    NewNote,
    Notes,
    Proximity,
    RelationshipId,
    Salience,
    SourceName,
    Verbose,
)
from kgagent.validation import check_size, validate

MAX_NODES = 100
MAX_RELATIONSHIPS = 200
MAX_NOTES = 200
MAX_VALUES = 500
"""Values in an item, at any depth."""

MAX_TITLE_LENGTH = 80

ItemT_co = TypeVar("ItemT_co", bound=BaseModel, covariant=True)
ListName = Literal["nodes", "relationships", "notes"]
Reference = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Unchecked(Generic[ItemT_co]):
    """An item of a list that is validated on its own, so that an invalid one does not reject the
    others.
    """

    # Not a dataclass: pydantic would validate its fields instead of the item.
    def __init__(self, model: type[ItemT_co], item: object) -> None:
        self._model = model
        self._item = item

    def validated(self) -> ItemT_co:
        """Validate the item.

        Raises:
            InputError: it is invalid.
        """
        check_size(self._item, max_values=MAX_VALUES, noun="An item")
        return validate(self._model, self._item)

    @property
    def title(self) -> str:
        """Its name or its two ends as far as they can be read, for a message."""
        if not isinstance(self._item, Mapping):
            return ""
        choices = (FROM_NAMES.choices, TO_NAMES.choices)
        ends = [next(filter(None, map(self._item.get, map(str, names))), None) for names in choices]
        if any(ends) and "on" not in self._item:
            return " to ".join(map(_title, ends))
        names = (self._item.get(name) for name in ("name", "ref", "entity_key", "on"))
        return next((_title(name) for name in names if name), "")

    @property
    def names(self) -> list[str]:
        """How other items may refer to it, as far as it can be read."""
        given = (
            (self._item.get(name) for name in ("ref", "name"))
            if isinstance(self._item, Mapping)
            else ()
        )
        return [
            name for name in given if isinstance(name, str) and len(name) <= MAX_REFERENCE_LENGTH
        ]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Keep any value; the schema for models is that of the item."""
        [model] = get_args(source)
        return core_schema.no_info_wrap_validator_function(
            lambda item, _validate: cls(model, item), handler.generate_schema(model)
        )


def _single(nodes: object) -> object:
    """One node where a list has one.

    Raises:
        PydanticCustomError: the list is empty, or has more than two nodes.
    """
    if nodes == []:
        raise PydanticCustomError("empty_list", "must have at least 1 item")
    if isinstance(nodes, list) and len(nodes) > 2:  # noqa: PLR2004
        raise PydanticCustomError(
            "several_pairs",
            "must be a node, or the two nodes of a relationship; give the note again for each pair",
        )
    return nodes[0] if isinstance(nodes, list) and len(nodes) == 1 else nodes


def _title(value: object) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(_title, value[:2]))
    return value[:MAX_TITLE_LENGTH] if isinstance(value, str) else "?"


class RememberedNode(Arguments):
    """A node to create or update."""

    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("type", "kind", "category", "entity_type", "node_type", "labels"), "label"
        ),
        **dict.fromkeys(("observations", "facts"), "notes"),
        **dict.fromkeys(("key", "id", "node"), "entity_key"),
        "title": "name",
    }

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"correction"})

    ref: Reference | None = Field(None, description="Name for it in this call.")
    entity_key: EntityKey | None = Field(None, description="Its key, if ambiguous.")
    label: ShortText | None = Field(None, description="Required for a new node.")
    name: NodeName | None = Field(None, description="Its name.")
    aliases: Aliases = Field(default_factory=list, description="Other names.")
    description: Text | None = Field(None, description="One sentence.")
    notes: Notes = Field(default_factory=list, description="What happened.")
    is_owner: bool | None = Field(None, description="The owner of the graph.")
    new: bool = Field(False, description="Even if the name exists.")
    correction: bool = Field(False, description=CORRECTION)

    @model_validator(mode="after")
    def _validate_identity(self) -> "RememberedNode":
        if self.entity_key is None and self.name is None:
            raise ValueError("a node needs a name, or the entity_key of an existing one")
        if self.entity_key is not None and self.new:
            raise ValueError("give new or entity_key, not both")
        return self

    def is_given(self, name: str) -> bool:
        """Whether a field was given, even if it is empty."""
        return name in self.model_fields_set

    @property
    def removes_aliases(self) -> bool:
        """Whether the item has an empty list of aliases and nothing else; beside others it is what
        a model fills in.
        """
        given = {name for name in self.model_fields_set if getattr(self, name) is not None}
        return given == {"entity_key", "aliases"} and not self.aliases


class RememberedRelationship(Arguments):
    """A relationship to create or update."""

    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("from_entity_key", "source_entity_key"), "from"),
        **dict.fromkeys(("to_entity_key", "target_entity_key"), "to"),
        **dict.fromkeys(("type", "relation", "relation_type", "label"), "relationship_type"),
    }

    from_: Reference = Field(
        validation_alias=AliasChoices("from", *FROM_NAMES.choices),
        description="A node: ref, entity_key or name.",
    )
    to: Reference = Field(
        validation_alias=AliasChoices("to", *TO_NAMES.choices), description="Another node."
    )
    relationship_type: ShortText | None = Field(
        None, description='Read from `from` to `to`: "mentor of".'
    )
    not_in_schema: ClassVar[frozenset[str]] = frozenset(
        {"correction", "clear", "confidence", "salience", "relationship_id"}
    )
    neo4j_type: Neo4jType = None
    relationship_id: RelationshipId = None
    description: Text | None = Field(None, description="One sentence.")
    attitude: Attitude = None
    proximity: Proximity = None
    when: GivenWhen = None
    notes: Notes = Field(default_factory=list, description="What happened.")
    replaces: bool = Field(False, description="The type replaces the old.")
    ends: list[FilledText] = Field(
        default_factory=list, max_length=20, description='Others that it ends: "lives in Oslo".'
    )
    correction: bool = Field(False, description=CORRECTION)
    confidence: Confidence = None
    salience: Salience = None
    clear: list[Literal["attitude", "proximity", "when"]] = Field(
        default_factory=list, max_length=3, description="What to remove."
    )


class RememberedNote(NewNote):
    """A note to add, or the correction of a stored one."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset(
        {"source_entity_key", "lifetime", "neo4j_type", "relationship_type", "relationship_id"}
    )
    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("node", "entity", "entity_key", "name", "entity_name", "about"), "on"),
        **dict.fromkeys(("text", "note", "fact", "observation"), "content"),
    }

    on: Annotated[
        Reference | Annotated[list[Reference], Field(min_length=2, max_length=2)],
        BeforeValidator(_single),
    ] = Field(description="A node, or both of a relationship.")
    content: Text = Field("", description="One fact, as a sentence.")
    replaces: FilledText | None = Field(
        None, description="Beginning of a note to replace; without content, to remove."
    )
    relationship_type: ShortText | None = Field(
        None, description="Type of the relationship, if it is new."
    )
    neo4j_type: Neo4jType = None
    relationship_id: RelationshipId = None

    @model_validator(mode="after")
    def _validate_content(self) -> "RememberedNote":
        if not self.content and self.replaces is None:
            raise ValueError(
                "a note needs content; only replaces without content removes a stored note"
            )
        return self

    @property
    def removes(self) -> bool:
        """Whether it only removes a stored note."""
        changes = self.content or self.when or self.lifetime or self.quote
        return self.replaces is not None and not changes

    @property
    def ends(self) -> list[str]:
        """The node, or the two nodes of the relationship."""
        return [self.on] if isinstance(self.on, str) else self.on


class RememberArguments(Arguments):
    """Arguments of remember."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"idempotency_key"})
    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("entities", "people", "persons"), "nodes"),
        **dict.fromkeys(("relations", "edges", "links"), "relationships"),
        **dict.fromkeys(("observations", "facts"), "notes"),
    }

    nodes: list[Unchecked[RememberedNode]] = Field(
        default_factory=list, max_length=MAX_NODES, description="To store."
    )
    relationships: list[Unchecked[RememberedRelationship]] = Field(
        default_factory=list, max_length=MAX_RELATIONSHIPS, description="To store."
    )
    notes: list[Unchecked[RememberedNote]] = Field(
        default_factory=list, max_length=MAX_NOTES, description="Facts with their own `when`."
    )
    said_on: WhenPeriod | None = Field(None, description="Date of the conversation.")
    source: SourceName | None = Field(None, description="Default source of notes.")
    source_text: SourceWords | None = Field(None, description="Its words.")
    verbose: Verbose = False
    idempotency_key: IdempotencyKey = None

    @model_validator(mode="before")
    @classmethod
    def _named_text(cls, data: object) -> object:
        """A source may be given as one object: {"name": …, "text": …}."""
        source = parsed_json(data.get("source")) if isinstance(data, Mapping) else None
        if isinstance(data, Mapping) and isinstance(source, Mapping):
            named = {"source": source.get("name"), "source_text": source.get("text")}
            return {**data, **{name: value for name, value in named.items() if value is not None}}
        return data

    @model_validator(mode="after")
    def _has_source(self) -> "RememberArguments":
        if self.source_text is not None and self.source is None:
            raise ValueError("source_text needs source, the name of what was said or written")
        return self
