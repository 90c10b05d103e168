"""What an ontology defines: labels with the rules of their keys, and relationship types with their words."""

import hashlib
import uuid
from string import Template
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

KEY_FIELDS = {"lower_name": "", "description": "", "user_id": "", "created_at": ""}
SCALE = range(1, 6)
_NAMESPACE = uuid.UUID("6f1c6d0e-7a55-4a0b-9a3e-2f6a4b6f0d11")


def _identifier(name: str) -> str:
    if not name or not name.isprintable() or any(c in name for c in "`\\"):
        raise ValueError(f"{name!r} cannot be the name of a label, type or property: it is empty or contains ` or \\")
    return name


Name = Annotated[str, AfterValidator(_identifier)]


def _words(words: tuple[str, ...]) -> tuple[str, ...]:
    for word in words:
        if not word or word != word.strip() or is_number(word):
            raise ValueError(f"{word!r} cannot be the word of a level: it is empty, a number, or has spaces around it")
    if len({word.casefold() for word in words}) < len(words):
        raise ValueError(f"the words of the levels must be distinct, got {', '.join(words)}")
    return words


def is_number(text: str) -> bool:
    """Whether a text is a whole number, with or without a sign."""
    return (text[1:] if text[:1] in {"+", "-"} else text).isdecimal()


Words = Annotated[tuple[str, ...], Field(min_length=5, max_length=5), AfterValidator(_words)]


class NodeLabel(BaseModel):
    """A label and the rule that creates the `entity_key` of its nodes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = "uuid4"

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
            raise ValueError(f"key template {template!r} may contain {known}; invalid: {error}") from None
        if "user_id" not in Template(template).get_identifiers():
            raise ValueError(f"key template {template!r} must contain ${{user_id}}, so that users share no keys")
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
        self, *, name: str, description: str, user_id: str, created_at: str, idempotency_key: str | None = None
    ) -> str:
        """Create the key of a new node.

        Args:
            name: name of the node; case-insensitive.
            description: description of the node.
            user_id: owner of the node.
            created_at: ISO 8601 time.
            idempotency_key: makes the key the same at every call: it replaces the time or the randomness.
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


class RelationshipDefinition(BaseModel):
    """A Neo4j relationship type: the labels that it connects and its words for attitude and proximity."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    from_label: Name = Field(alias="from")
    to_label: Name = Field(alias="to")
    attitude: Words
    proximity: Words

    def words(self, field: str) -> tuple[str, ...]:
        """The five words of `attitude` or `proximity`, for levels 1 to 5."""
        return self.attitude if field == "attitude" else self.proximity
