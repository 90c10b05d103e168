"""The ontology: labels, relationship types with their words, and lifetimes of notes."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgagent.errors import InputError, InvalidLevelError
from kgagent.ontology.definitions import SCALE, Name, NodeLabel, RelationshipDefinition, is_number

MAX_LIFETIME = 365_000
"""Maximum days of a note lifetime; an expiry that late is still a valid date."""

Scalar = str | int | float | bool | None


class Ontology(BaseModel):
    """The labels, relationship types and words of a graph; no other code knows any of them by name."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    labels: dict[Name, NodeLabel] = Field(min_length=1)
    relationships: dict[Name, RelationshipDefinition] = Field(min_length=1)
    note_lifetimes_in_days: dict[str, Annotated[int, Field(ge=1, le=MAX_LIFETIME)] | None]
    default_note_lifetime: str
    relationship_defaults: dict[Name, Scalar] = Field(default_factory=dict)
    hidden_properties: frozenset[Name] = frozenset()
    symmetric_types: frozenset[str] = frozenset()
    owner_label: Name | None = None
    stop_words: frozenset[str] = frozenset()
    owner_words: frozenset[str] = frozenset({"i", "me", "my", "mine", "myself"})

    @model_validator(mode="after")
    def _validate_references(self) -> Self:
        for neo4j_type, definition in self.relationships.items():
            for label in (definition.from_label, definition.to_label):
                if label not in self.labels:
                    raise ValueError(f"relationship {neo4j_type} refers to label {label}, which is not defined")
        if self.owner_label is not None and self.owner_label not in self.labels:
            raise ValueError(f"owner_label is {self.owner_label}, which is not defined")
        if shared := sorted(({"relationship"} | self.relationships.keys()) & self.labels.keys()):
            raise ValueError(f"label {shared[0]} is also a relationship type, or the reserved word 'relationship'")
        if self.default_note_lifetime not in self.note_lifetimes_in_days:
            raise ValueError(
                f"default_note_lifetime {self.default_note_lifetime!r} is not one of note_lifetimes_in_days"
            )
        return self

    @cached_property
    def label_order(self) -> Mapping[str, int]:
        """Position of each label, which breaks ties between equally ranked nodes."""
        return MappingProxyType({label: position for position, label in enumerate(self.labels)})

    def label(self, name: str) -> NodeLabel:
        """Get a label by name.

        Raises:
            InputError: the ontology has no such label.
        """
        if name not in self.labels:
            raise InputError(f"Unknown label: {name}. Known labels: {', '.join(self.labels)}")
        return self.labels[name]

    def relationship(self, neo4j_type: str) -> RelationshipDefinition:
        """Get the definition of a Neo4j relationship type.

        Raises:
            InputError: the ontology has no such type.
        """
        if neo4j_type not in self.relationships:
            raise InputError(
                f"Unsupported relationship type: {neo4j_type}. Known types: {', '.join(self.relationships)}"
            )
        return self.relationships[neo4j_type]

    def type_between(self, first: str, second: str, neo4j_type: str | None = None) -> tuple[str, bool]:
        """Find the Neo4j type that connects two labels.

        Args:
            first: label of the first node.
            second: label of the second node.
            neo4j_type: the type to use if the ontology has several for these labels.

        Returns:
            The type, and whether its direction is from the second label to the first.

        Raises:
            InputError: no type connects the labels, several do and `neo4j_type` is None, or `neo4j_type` connects
                other labels.
        """
        if neo4j_type is not None:
            self.relationship(neo4j_type)
        candidates = [
            (name, (first, second) != (definition.from_label, definition.to_label))
            for name, definition in self.relationships.items()
            if {first, second} == {definition.from_label, definition.to_label} and neo4j_type in {None, name}
        ]
        if not candidates:
            pairs = ", ".join(f"{d.from_label}-{d.to_label} ({t})" for t, d in self.relationships.items())
            raise InputError(f"No relationship type connects {first} and {second}. Available pairs: {pairs}")
        if len(candidates) > 1:
            names = ", ".join(name for name, _ in candidates)
            raise InputError(f"Several types connect {first} and {second}: {names}. Choose one with neo4j_type")
        return candidates[0]

    def level(self, neo4j_type: str, field: str, value: str | int | None) -> int | None:
        """Convert an attitude or proximity to a level from 1 to 5.

        Args:
            neo4j_type: a type of this ontology.
            field: "attitude" or "proximity".
            value: 1 to 5, one of the five words of the type (case-insensitive), or None.

        Raises:
            InvalidLevelError: the number is out of range, or the word is not one of the five.
        """
        if value is None:
            return None
        if isinstance(value, str) and not is_number(value.strip()):
            words = self.relationship(neo4j_type).words(field)
            wanted = value.strip().casefold()
            for level, word in zip(SCALE, words, strict=True):
                if word.casefold() == wanted:
                    return level
            raise InvalidLevelError(
                field,
                f'Invalid word "{value}" for relationship type "{neo4j_type}". '
                f"Words of {field}, from 1 to 5: {', '.join(words)}",
            )
        # Truncated, because Python refuses to parse integers with thousands of digits.
        number = int(value.strip()[:20]) if isinstance(value, str) else value
        if number not in SCALE:
            known = ", ".join(self.relationship(neo4j_type).words(field))
            raise InvalidLevelError(
                field, f"Attitude/proximity must be 1-5, got {field} {number}; from 1 to 5: {known}"
            )
        return number

    def word(self, neo4j_type: str, field: str, level: int | None) -> str:
        """The word of a level; empty if the level is None or out of range (old data)."""
        return self.level_words.get((neo4j_type, field, level or 0), "")

    @cached_property
    def level_words(self) -> Mapping[tuple[str, str, int], str]:
        """The word of each Neo4j type, field and level; a search reads many, so it looks them up here directly."""
        return {
            (neo4j_type, field, level): word
            for neo4j_type, definition in self.relationships.items()
            for field in ("attitude", "proximity")
            for level, word in zip(SCALE, definition.words(field), strict=True)
        }

    def note_expiry(self, lifetime: str | None, added: datetime) -> datetime | None:
        """Compute when a note expires; None means never.

        Args:
            lifetime: name of a lifetime; None for the default lifetime.
            added: when the note was added.

        Raises:
            InputError: the ontology has no such lifetime.
        """
        chosen = lifetime or self.default_note_lifetime
        chosen = chosen if chosen in self.note_lifetimes_in_days else chosen.lower()
        if chosen not in self.note_lifetimes_in_days:
            known = ", ".join(self.note_lifetimes_in_days)
            raise InputError(f"lifetime must be one of {known}, got {lifetime!r}")
        days = self.note_lifetimes_in_days[chosen]
        return None if days is None else added + timedelta(days=days)
