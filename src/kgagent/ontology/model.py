"""The ontology: labels, relationship types with their words, and lifetimes of notes."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain, combinations
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from kgagent.errors import InputError, InvalidLevelError
from kgagent.names import normalised_type
from kgagent.ontology.definitions import SCALE, Name, NodeLabel, RelationshipDefinition, is_number

MAX_LIFETIME = 365_000
"""Maximum days of a note lifetime; an expiry that late is still a valid date."""

Scalar = str | int | float | bool | None

FreeTypes = Annotated[
    frozenset[str], AfterValidator(lambda types: frozenset(map(normalised_type, types)))
]
"""Free types as they are compared."""

Subjects = Mapping[str, set[str]]
"""Nodes by their keys, each with the types of which it has one value."""

_WORD_BREAK = re.compile(r"[\s_]+|(?<=[a-z\d])(?=[A-Z])")


class Ontology(BaseModel):
    """The labels, relationship types and words of a graph; no other code knows any of them by name.

    Of a graph that other programs wrote, `adopted_for` is the user to whom the records without an
    owner belong, and `node_embedding` the property with the embeddings of nodes, so that those of
    other programs stay.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    labels: dict[Name, NodeLabel] = Field(min_length=1)
    relationships: dict[Name, RelationshipDefinition] = Field(min_length=1)
    note_lifetimes_in_days: dict[str, Annotated[int, Field(ge=1, le=MAX_LIFETIME)] | None] = Field(
        default_factory=lambda: dict[str, int | None](forever=None)
    )
    default_note_lifetime: str = "forever"
    relationship_defaults: dict[Name, Scalar] = Field(default_factory=dict)
    hidden_properties: frozenset[Name] = frozenset()
    symmetric_types: FreeTypes = frozenset()
    single_valued_types: FreeTypes = frozenset()
    single_holder_types: FreeTypes = frozenset()
    owner_label: Name | None = None
    stop_words: frozenset[str] = frozenset()
    adopted_for: Annotated[str, Field(min_length=1)] | None = None
    node_embedding: Literal["embedding", "kgagent_embedding"] = "embedding"
    owner_words: frozenset[str] = frozenset({"i", "me", "my", "mine", "myself"})

    @model_validator(mode="after")
    def _validate_references(self) -> Self:
        for neo4j_type, definition in self.relationships.items():
            for label in chain.from_iterable(definition.pairs):
                if label not in self.labels:
                    raise ValueError(
                        f"relationship {neo4j_type} refers to label {label}, which is not defined"
                    )
        if self.owner_label is not None and self.owner_label not in self.labels:
            raise ValueError(f"owner_label is {self.owner_label}, which is not defined")
        if shared := sorted(({"relationship"} | self.relationships.keys()) & self.labels.keys()):
            raise ValueError(
                f"label {shared[0]} is also a relationship type, or the reserved word "
                f"'relationship'"
            )
        if self.default_note_lifetime not in self.note_lifetimes_in_days:
            raise ValueError(
                f"default_note_lifetime {self.default_note_lifetime!r} is not one of "
                f"note_lifetimes_in_days"
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
                f"Unsupported relationship type: {neo4j_type}. Known types: "
                f"{', '.join(self.relationships)}"
            )
        return self.relationships[neo4j_type]

    @cached_property
    def ambiguous_types(self) -> tuple[str, ...]:
        """The Neo4j types that share a pair of labels with another one, so that a caller must
        choose.
        """
        labels = {
            name: {frozenset(pair) for pair in definition.pairs}
            for name, definition in self.relationships.items()
        }
        shared = {
            one
            for both in combinations(labels, 2)
            if labels[both[0]] & labels[both[1]]
            for one in both
        }
        return tuple(name for name in self.relationships if name in shared)

    def type_between(
        self,
        first: str,
        second: str,
        neo4j_type: str | None = None,
        *,
        relationship_type: str = "",
        existing: Collection[str] = (),
    ) -> tuple[str, bool]:
        """Find the Neo4j type that connects two labels.

        If the ontology has several, it is `neo4j_type`, or else the one that reads like
        `relationship_type` ("acted in" for ACTED_IN), or else the only one of `existing`.

        Args:
            first: label of the first node.
            second: label of the second node.
            neo4j_type: the type.
            relationship_type: the free type.
            existing: Neo4j types of relationships of which one is meant.

        Returns:
            The type, and whether its direction is from the second label to the first.

        Raises:
            InputError: no type connects the labels, several do and none was chosen, or `neo4j_type`
                connects other labels.
        """
        if neo4j_type is not None:
            self.relationship(neo4j_type)
        directions = {
            name: forward
            for name, definition in self.relationships.items()
            if neo4j_type in {None, name}
            and (forward := definition.direction(first, second)) is not None
        }
        if not directions:
            pairs = ", ".join(
                f"{definition} ({name})" for name, definition in self.relationships.items()
            )
            raise InputError(
                f"No relationship type connects {first} and {second}. Available pairs: {pairs}"
            )
        candidates = [name for name in directions if as_words(name) == as_words(relationship_type)]
        candidates = (
            candidates or [name for name in directions if name in existing] or list(directions)
        )
        chosen = candidates[0] if len(candidates) == 1 or len(directions) == 1 else None
        if chosen is None:
            names = ", ".join(directions)
            raise InputError(
                f"Several types connect {first} and {second}: {names}. Choose one with neo4j_type"
            )
        return chosen, not directions[chosen]

    @cached_property
    def source_label(self) -> str | None:
        """The label of sources: the only one with the time in its key; None if there is no single
        one.
        """
        dated = [name for name, rule in self.labels.items() if rule.key_includes_time]
        return dated[0] if len(dated) == 1 else None

    @property
    def single_types(self) -> frozenset[str]:
        """The free types of which a node has one value at a time."""
        return self.single_valued_types | self.single_holder_types

    def single_value_nodes(self, names: Iterable[str], source: str, target: str) -> Subjects:
        """The nodes of a relationship that have one value of one of its types.

        Args:
            names: the types, as they are compared.
            source: key of its first node, in its direction.
            target: key of its second node.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for name in names:
            of_both = name in self.symmetric_types and name in self.single_types
            if of_both or name in self.single_valued_types:
                found[source].add(name)
            if of_both or name in self.single_holder_types:
                found[target].add(name)
        return found

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
            for level, word in zip(SCALE, words, strict=False):
                if word.casefold() == wanted:
                    return level
            known = (
                f"Words of {field}, from 1 to 5: {', '.join(words)}"
                if words
                else f"Give {field} as 1 to 5"
            )
            raise InvalidLevelError(
                field, f'Invalid word "{value}" for relationship type "{neo4j_type}". {known}'
            )
        # Truncated, because Python refuses to parse integers with thousands of digits.
        number = int(value.strip()[:20]) if isinstance(value, str) else value
        if number not in SCALE:
            words = self.relationship(neo4j_type).words(field)
            known = f"; from 1 to 5: {', '.join(words)}" if words else ""
            raise InvalidLevelError(
                field, f"Attitude/proximity must be 1-5, got {field} {number}{known}"
            )
        return number

    def word(self, neo4j_type: str, field: str, level: int | None) -> str:
        """The word of a level; empty if the level is None or out of range (old data)."""
        return self.level_words.get((neo4j_type, field, level or 0), "")

    @cached_property
    def level_words(self) -> Mapping[tuple[str, str, int], str]:
        """The word of each Neo4j type, field and level; a search reads many, so it looks them up
        here directly.
        """
        return {
            (neo4j_type, field, level): word
            for neo4j_type, definition in self.relationships.items()
            for field in ("attitude", "proximity")
            for level, word in zip(SCALE, definition.words(field), strict=False)
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


def same_but_case(known: Collection[str], name: str) -> str:
    """The only known name that differs from a given one in letter case alone; else what was
    given.
    """
    alike = [one for one in known if one.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 and name not in known else name


def as_words(name: str) -> str:
    """A name of the database in words: "acted in" for ACTED_IN, actedIn and "Acted in"."""
    return " ".join(filter(None, _WORD_BREAK.split(name))).lower()
