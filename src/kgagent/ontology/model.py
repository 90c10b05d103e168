"""What an ontology says: labels and their keys, relationship kinds and their words, notes' lifetimes."""

import hashlib
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cached_property
from string import Template
from types import MappingProxyType
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from kgagent.errors import InputError

KEY_FIELDS = {"lower_name": "", "description": "", "user_id": "", "created_at": ""}
SCALE = range(1, 6)
MAX_LIFETIME = 365_000
"""Days that a note may count; a date that far away can still be written down."""

Scalar = str | int | float | bool | None


def _identifier(name: str) -> str:
    if not name or not name.isprintable() or any(c in name for c in "`\\"):
        raise ValueError(f"{name!r} cannot name a label, a type or a property: it is empty or holds ` or \\")
    return name


Name = Annotated[str, AfterValidator(_identifier)]


def _words(words: tuple[str, ...]) -> tuple[str, ...]:
    for word in words:
        if not word or word != word.strip() or _is_number(word):
            raise ValueError(f"{word!r} cannot be a word for a level: it is empty, a number, or has space around it")
    if len({word.casefold() for word in words}) < len(words):
        raise ValueError(f"the words of the levels must differ, got {', '.join(words)}")
    return words


def _is_number(text: str) -> bool:
    return (text[1:] if text[:1] in {"+", "-"} else text).isdecimal()


Words = Annotated[tuple[str, ...], Field(min_length=5, max_length=5), AfterValidator(_words)]


class NodeLabel(BaseModel):
    """A label and the rule that makes the `entity_key` of a node that carries it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = "uuid4"

    @model_validator(mode="after")
    def _rule_is_known(self) -> Self:
        if self.key == "uuid4":
            return self
        scheme, _, template = self.key.partition(":")
        if scheme != "sha256" or not template:
            raise ValueError(f"key must be uuid4 or sha256:<template>, got {self.key!r}")
        try:
            Template(template).substitute(KEY_FIELDS)
        except (KeyError, ValueError) as error:
            known = ", ".join(f"${{{field}}}" for field in KEY_FIELDS)
            raise ValueError(f"key template {template!r} may use {known}; wrong: {error}") from None
        if "user_id" not in Template(template).get_identifiers():
            raise ValueError(f"key template {template!r} must hold ${{user_id}}: no two users' nodes share a key")
        return self

    @property
    def is_deterministic(self) -> bool:
        """Whether the same content gives the same key, and so the same node."""
        return self.key != "uuid4"

    @property
    def is_dated(self) -> bool:
        """Whether the time of making is part of the key."""
        return "created_at" in self.key

    @property
    def is_named(self) -> bool:
        """Whether the name is part of the key, and so cannot change."""
        return "lower_name" in self.key

    def entity_key(self, *, name: str, description: str, user_id: str, created_at: str) -> str:
        """Make the key of a new node.

        Args:
            name: the node's name; letter case does not count.
            description: the node's description.
            user_id: whose node it is.
            created_at: ISO 8601 time.
        """
        if not self.is_deterministic:
            return str(uuid.uuid4())
        text = Template(self.key.partition(":")[2]).substitute(
            lower_name=name.lower(), description=description, user_id=user_id, created_at=created_at
        )
        return hashlib.sha256(text.encode()).hexdigest()


class RelationshipDefinition(BaseModel):
    """A Neo4j relationship type: the labels that it joins and its words for attitude and proximity."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    from_label: Name = Field(alias="from")
    to_label: Name = Field(alias="to")
    attitude: Words
    proximity: Words

    def words(self, field: str) -> tuple[str, ...]:
        """The five words of `attitude` or of `proximity`, from 1 to 5."""
        return self.attitude if field == "attitude" else self.proximity


class Ontology(BaseModel):
    """The labels, relationship kinds and words of one graph; all that the code knows of them it knows from here."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    labels: dict[Name, NodeLabel] = Field(min_length=1)
    relationships: dict[Name, RelationshipDefinition] = Field(min_length=1)
    note_lifetimes_in_days: dict[str, Annotated[int, Field(ge=1, le=MAX_LIFETIME)] | None]
    default_note_lifetime: str
    relationship_defaults: dict[Name, Scalar] = Field(default_factory=dict)
    hidden_properties: frozenset[Name] = frozenset()

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        for neo4j_type, kind in self.relationships.items():
            for label in (kind.from_label, kind.to_label):
                if label not in self.labels:
                    raise ValueError(f"relationship {neo4j_type} names label {label}, which is not among the labels")
        if shared := sorted(({"relationship"} | self.relationships.keys()) & self.labels.keys()):
            raise ValueError(f"label {shared[0]} has the name of a relationship type, or of relationships as such")
        if self.default_note_lifetime not in self.note_lifetimes_in_days:
            raise ValueError(f"default_note_lifetime {self.default_note_lifetime!r} is not among the lifetimes")
        return self

    @cached_property
    def label_order(self) -> Mapping[str, int]:
        """Position of each label, the rule that breaks ties between equally ranked nodes."""
        return MappingProxyType({label: position for position, label in enumerate(self.labels)})

    def label(self, name: str) -> NodeLabel:
        """Find a label.

        Raises:
            InputError: the ontology has no such label.
        """
        if name not in self.labels:
            raise InputError(f"Unknown label: {name}. Known labels: {', '.join(self.labels)}")
        return self.labels[name]

    def relationship(self, neo4j_type: str) -> RelationshipDefinition:
        """Find a relationship kind by its Neo4j type.

        Raises:
            InputError: the ontology has no such type.
        """
        if neo4j_type not in self.relationships:
            raise InputError(
                f"Unsupported relationship type: {neo4j_type}. Known types: {', '.join(self.relationships)}"
            )
        return self.relationships[neo4j_type]

    def type_between(self, first: str, second: str, neo4j_type: str | None = None) -> tuple[str, bool]:
        """Find the Neo4j type that joins two labels.

        Args:
            first: label of the node that the caller names first.
            second: label of the node that the caller names second.
            neo4j_type: the type wanted, where the ontology has several for this pair.

        Returns:
            The type, and whether the caller's order is the reverse of the canonical one.

        Raises:
            InputError: no type joins these labels, several do and none was named, or the named one joins others.
        """
        if neo4j_type is not None:
            self.relationship(neo4j_type)
        candidates = [
            (name, (first, second) != (kind.from_label, kind.to_label))
            for name, kind in self.relationships.items()
            if {first, second} == {kind.from_label, kind.to_label} and neo4j_type in {None, name}
        ]
        if not candidates:
            pairs = ", ".join(f"{k.from_label}-{k.to_label} ({t})" for t, k in self.relationships.items())
            raise InputError(f"No relationship type joins {first} and {second}. Pairs that exist: {pairs}")
        if len(candidates) > 1:
            names = ", ".join(name for name, _ in candidates)
            raise InputError(f"Several types join {first} and {second}: {names}. Say which one in neo4j_type")
        return candidates[0]

    def level(self, neo4j_type: str, field: str, value: str | int | None) -> int | None:
        """Turn what a caller says of attitude or proximity into 1 to 5.

        Args:
            neo4j_type: a type of this ontology.
            field: "attitude" or "proximity".
            value: 1 to 5, one of the kind's five words in any letter case, or None.

        Raises:
            InputError: the number is out of range or the word is none of the five.
        """
        if value is None:
            return None
        if isinstance(value, str) and not _is_number(value.strip()):
            words = self.relationship(neo4j_type).words(field)
            wanted = value.strip().casefold()
            for level, word in zip(SCALE, words, strict=True):
                if word.casefold() == wanted:
                    return level
            raise InputError(
                f'Invalid word "{value}" for relationship type "{neo4j_type}". '
                f"Words of {field}, from 1 to 5: {', '.join(words)}"
            )
        # Cut, as Python refuses to read a number of thousands of digits.
        number = int(value.strip()[:20]) if isinstance(value, str) else value
        if number not in SCALE:
            raise InputError(f"Attitude/proximity must be 1-5, got {field} {number}")
        return number

    def word(self, neo4j_type: str, field: str, level: int | None) -> str:
        """The word of a level; empty where there is no level or it is out of range (old data)."""
        if level is None or level not in SCALE:
            return ""
        return self.relationship(neo4j_type).words(field)[level - 1]

    def note_expiry(self, lifetime: str | None, added: datetime) -> datetime | None:
        """When a note ends that is added now; None is never.

        Raises:
            InputError: the lifetime is not one of the ontology's.
        """
        chosen = lifetime or self.default_note_lifetime
        if chosen not in self.note_lifetimes_in_days:
            known = ", ".join(self.note_lifetimes_in_days)
            raise InputError(f"lifetime must be one of {known}, got {chosen!r}")
        days = self.note_lifetimes_in_days[chosen]
        return None if days is None else added + timedelta(days=days)
