"""What an ontology defines: labels with the rules of their keys, and relationship types with their
words.
"""

import hashlib
import uuid
from collections.abc import Mapping
from string import Template
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

KEY_FIELDS = {"lower_name": "", "description": "", "user_id": "", "created_at": ""}
SCALE = range(1, 6)
_NAMESPACE = uuid.UUID("6f1c6d0e-7a55-4a0b-9a3e-2f6a4b6f0d11")


def can_be_name(name: str) -> bool:
    """Whether a name can be that of a label, type or property of an ontology."""
    return bool(name) and name.isprintable() and not any(c in name for c in "`\\")


def _identifier(name: str) -> str:
    if not can_be_name(name):
        raise ValueError(
            f"{name!r} cannot be the name of a label, type or property: it is empty or contains ` "
            f"or \\"
        )
    return name


Name = Annotated[str, AfterValidator(_identifier)]
Names = Annotated[
    tuple[Name, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
]
"""Names of properties; in a file, one may be given without a list."""


def _words(words: tuple[str, ...]) -> tuple[str, ...]:
    if words and len(words) != len(SCALE):
        raise ValueError(f"there must be {len(SCALE)} words, or none, got {len(words)}")
    for word in words:
        if not word or word != word.strip() or is_number(word):
            raise ValueError(
                f"{word!r} cannot be the word of a level: it is empty, a number, or has spaces "
                f"around it"
            )
    if len({word.casefold() for word in words}) < len(words):
        raise ValueError(f"the words of the levels must be distinct, got {', '.join(words)}")
    return words


def is_number(text: str) -> bool:
    """Whether a text is a whole number, with or without a sign."""
    return (text[1:] if text[:1] in {"+", "-"} else text).isdecimal()


Words = Annotated[tuple[str, ...], AfterValidator(_words)]


class NodeLabel(BaseModel):
    """A label and the rule that creates the `entity_key` of its nodes.

    `name_from` and `text_from` are the properties of adopted nodes from which the name and the
    description are made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = "uuid4"
    name_from: Names = ()
    text_from: Names = ()

    @model_validator(mode="after")
    def _validate_key_rule(self) -> Self:
        if self.key == "uuid4":
            return self
        scheme, _, template = self.key.partition(":")
        if scheme != "sha256" or not template:
            raise ValueError(f"key must be uuid4 or sha256:<template>, got {self.key!r}")
        try:
            Template(template).substitute(KEY_FIELDS)
        except (KeyError, ValueError) as error:
            known = ", ".join(f"${{{field}}}" for field in KEY_FIELDS)
            raise ValueError(
                f"key template {template!r} may contain {known}; invalid: {error}"
            ) from None
        if "user_id" not in Template(template).get_identifiers():
            raise ValueError(
                f"key template {template!r} must contain ${{user_id}}, so that users share no keys"
            )
        return self

    @property
    def is_deterministic(self) -> bool:
        """Whether equal content has an equal key, and is therefore the same node."""
        return self.key != "uuid4"

    @property
    def key_includes_time(self) -> bool:
        """Whether the creation time is part of the key."""
        return "created_at" in self.key

    @property
    def key_includes_name(self) -> bool:
        """Whether the name is part of the key and therefore cannot change."""
        return "lower_name" in self.key

    def entity_key(
        self,
        *,
        name: str,
        description: str,
        user_id: str,
        created_at: str,
        idempotency_key: str | None = None,
    ) -> str:
        """Create the key of a new node.

        Args:
            name: name of the node; case-insensitive.
            description: description of the node.
            user_id: owner of the node.
            created_at: ISO 8601 time.
            idempotency_key: makes the key the same at every call: it replaces the time or the
                randomness.
        """
        if not self.is_deterministic:
            if idempotency_key is None:
                return str(uuid.uuid4())
            return str(uuid.uuid5(_NAMESPACE, f"{len(user_id)}:{user_id}{idempotency_key}"))
        created_at = created_at if idempotency_key is None else idempotency_key
        text = Template(self.key.partition(":")[2]).substitute(
            lower_name=name.lower(), description=description, user_id=user_id, created_at=created_at
        )
        return hashlib.sha256(text.encode()).hexdigest()


class ConnectedLabels(BaseModel):
    """Two labels that a relationship type connects, in its direction."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    from_: Name = Field(alias="from")
    to: Name


class RelationshipDefinition(BaseModel):
    """A Neo4j relationship type: the labels that it connects and its words for attitude and
    proximity.

    One pair of labels may be given as `from` and `to`. Without words, levels are numbers only.
    `type_from` and `text_from` are the properties of adopted relationships from which
    `relationship_type` and the description are made. `when_from` is that of the day on which they
    held, or those of the first and the last day: "valid_at/invalid_at", "since/..".
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    connects: Annotated[tuple[ConnectedLabels, ...], Field(min_length=1)]
    attitude: Words = ()
    proximity: Words = ()
    type_from: Names = ()
    when_from: str = ""
    text_from: Names = ()

    @model_validator(mode="before")
    @classmethod
    def _read_one_pair(cls, given: object) -> object:
        if (
            not isinstance(given, Mapping)
            or not {"from", "to"} & given.keys()
            or "connects" in given
        ):
            return given
        pair = {name: value for name, value in given.items() if name in {"from", "to"}}
        return {
            **{name: value for name, value in given.items() if name not in pair},
            "connects": [pair],
        }

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The labels that it connects, each pair in its direction."""
        return [(pair.from_, pair.to) for pair in self.connects]

    def direction(self, first: str, second: str) -> bool | None:
        """Whether it leads from the first label to the second, or else back; None if it does not
        connect them.
        """
        if (first, second) in self.pairs:
            return True
        return False if (second, first) in self.pairs else None

    @property
    def has_fixed_direction(self) -> bool:
        """Whether the labels of two nodes say in which direction it leads."""
        return not any((end, start) in self.pairs for start, end in self.pairs)

    def words(self, field: str) -> tuple[str, ...]:
        """The words of `attitude` or `proximity` for levels 1 to 5; empty without words."""
        return self.attitude if field == "attitude" else self.proximity

    def __str__(self) -> str:
        """The pairs of labels."""
        return ", ".join("-".join(pair) for pair in self.pairs)
