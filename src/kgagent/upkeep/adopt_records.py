"""Adopting records: what nodes and relationships of other programs lack is added to them, and can
be removed again.

A record keeps the names of what was added to it, with fingerprints of the values. What another
program has changed since is its own, and stays. What is made of other properties, a
name or a description, is made again when these have changed, unless a tool has replaced it since.
"""

import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgagent.batches import batched
from kgagent.formatting import beginning
from kgagent.graph.adopted import fingerprint, with_additions, written_by_kgagent
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import (
    ADOPTED,
    ADOPTED_HASHES,
    NODE_BOOKKEEPING,
    RELATIONSHIP_BOOKKEEPING,
)
from kgagent.graph.records import ontology_label
from kgagent.graph.relationships import parallel_key
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.history import parse_history
from kgagent.ontology import Ontology
from kgagent.ontology.definitions import NodeLabel, RelationshipDefinition
from kgagent.ontology.model import as_words
from kgagent.progress import Progress
from kgagent.upkeep.adopt_inference import value_text
from kgagent.upkeep.examination import Kind

BATCH_SIZE = 2_000
"""Records of a transaction."""

MAX_NAME = 80
MAX_DESCRIPTION = 20_000
"""Characters of a name that is the beginning of a text, and of a description."""

_NODE_CONTENT = ("entity_key", "user_id", "name", "description")
_RELATIONSHIP_CONTENT = ("user_id", "relationship_key", "relationship_type", "description")
_ALWAYS_READ = (ADOPTED, ADOPTED_HASHES, "history")


async def adopt_records(
    store: Store, ontology: Ontology, progress: Progress, *, batch_size: int = BATCH_SIZE
) -> int:
    """Add what is missing to all records without an owner that the ontology covers, nodes first.

    Every record is complete on its own, so an interrupted run is continued by the next one.

    Args:
        store: the database.
        ontology: says whom the records belong to, and what names and descriptions are made of.
        progress: reports the records.
        batch_size: records per transaction.

    Returns:
        The number of records that were changed.

    Raises:
        StoreError: the database failed.
    """
    adoption = _Adoption(store, ontology)
    written = 0
    additions: dict[Kind, Callable[[Row], Row]] = {
        "nodes": adoption.node,
        "relationships": adoption.relationship,
    }
    for kind, of_row in additions.items():
        with progress.task(f"Adopting {kind}") as advance:
            async with store.stream(
                adoption.statement(f"read_adoptable_{kind}"), adoption.parameters(kind)
            ) as rows:
                async for batch in batched(_changes(rows, of_row), batch_size):
                    parameters = {"user_id": ontology.adopted_for, "rows": batch}
                    [row] = await store.write(adoption.statement(f"adopt_{kind}"), parameters)
                    written += row["written"]
                    advance(len(batch))
    return written


async def undo_adoption(
    store: Store, user_id: str, progress: Progress, *, batch_size: int = BATCH_SIZE
) -> int:
    """Remove what adopting records, and embedding them since, has added, whichever ontology it had.

    Args:
        store: the database.
        user_id: the user for whom they were adopted.
        progress: reports the records.
        batch_size: records per transaction.

    Returns:
        The number of records that were changed.

    Raises:
        StoreError: the database failed.
    """
    written = 0
    bookkeeping = {"relationships": RELATIONSHIP_BOOKKEEPING, "nodes": NODE_BOOKKEEPING}
    for kind, names in bookkeeping.items():
        parameters: dict[str, Any] = {
            "user_id": user_id,
            "owner": fingerprint("user_id", user_id),
            "own_labels": sorted(OWN_LABELS),
        }
        with progress.task(f"Restoring {kind}") as advance:
            async with store.stream(statement(f"find_adopted_{kind}"), parameters) as rows:
                async for batch in batched(rows, batch_size):
                    added = [
                        {"element_id": row["element_id"], "added": sorted(written_by_kgagent(of))}
                        for row in batch
                        if (of := dict(row["fields"]))
                    ]
                    [row] = await store.write(
                        statement(f"undo_adopted_{kind}"),
                        {**parameters, "rows": added, "bookkeeping": list(names)},
                    )
                    written += row["written"]
                    advance(len(batch))
    return written


async def _changes(rows: AsyncIterator[Row], additions: Callable[[Row], Row]) -> AsyncIterator[Row]:
    async for row in rows:
        if properties := additions(row):
            fields = dict(row["fields"])
            before = {name: fields[name] for name in properties.keys() & fields.keys()}
            yield {"element_id": row["element_id"], "properties": properties, "before": before}


@dataclass(frozen=True)
class _Adoption:
    """What is added to the records of an ontology."""

    store: Store
    ontology: Ontology

    def statement(self, name: str) -> str:
        """A statement about the records of the ontology."""
        labels, types = (
            Identifier.any_of(self.ontology.labels),
            Identifier.any_of(self.ontology.relationships),
        )
        return statement(name, labels=labels, types=types)

    def parameters(self, kind: Kind) -> dict[str, Any]:
        """The owner, and the names of the properties that are read."""
        if kind == "nodes":
            made_of = [(*rule.name_from, *rule.text_from) for rule in self.ontology.labels.values()]
            content = _NODE_CONTENT
        else:
            made_of = [
                (*rule.type_from, *rule.text_from) for rule in self.ontology.relationships.values()
            ]
            content = _RELATIONSHIP_CONTENT
        names = dict.fromkeys(
            [*content, *_ALWAYS_READ, *(name for some in made_of for name in some)]
        )
        return {"user_id": self.ontology.adopted_for, "names": list(names)}

    def node(self, row: Row) -> Row:
        """The properties to set on a node; none if it has all."""
        fields = dict(row["fields"])
        rule = self.ontology.labels[ontology_label(row["labels"], self.ontology)]
        added = written_by_kgagent(fields)
        own = {name: value for name, value in fields.items() if name not in added}
        key = fields.get("entity_key") or str(uuid.uuid4())
        name, description = node_texts(own, rule)
        wanted = {
            "entity_key": key,
            "user_id": self.ontology.adopted_for,
            "name": name,
            "description": description,
        }
        return _additions(wanted, fields)

    def relationship(self, row: Row) -> Row:
        """The properties to set on a relationship; none if it has all."""
        fields = dict(row["fields"])
        rule = self.ontology.relationships[row["type"]]
        added = written_by_kgagent(fields)
        own = {name: value for name, value in fields.items() if name not in added}
        ends = [_end_name(row[end], self.ontology) for end in ("from", "to")]
        relationship_type, description = relationship_texts(own, row["type"], rule, ends)
        key = fields.get("relationship_key")
        if row["earlier"] and key is None:
            key = parallel_key(row["type"], row["from"]["key"], row["to"]["key"])
        wanted = {
            "user_id": self.ontology.adopted_for,
            "relationship_key": key,
            "relationship_type": relationship_type,
            "description": description,
        }
        return _additions(wanted, fields)


def node_texts(own: Mapping[str, Any], rule: NodeLabel) -> tuple[str, str]:
    """The name and the description that a node gets from its own properties; each empty if there is
    nothing for it.
    """
    description = _texts(own, rule.text_from)
    name = " ".join(filter(None, (value_text(own.get(source)) for source in rule.name_from)))
    said = value_text(own.get("description")) or description
    return beginning(name or said, MAX_NAME), description[:MAX_DESCRIPTION]


def relationship_texts(
    own: Mapping[str, Any], neo4j_type: str, rule: RelationshipDefinition, ends: Sequence[str]
) -> tuple[str, str]:
    """The free type and the description that a relationship gets from its own properties.

    The description is its triplet in words ("Tom Hanks acted in Cast Away; roles: Chuck Noland"),
    unless its own text names both nodes.

    Args:
        own: its properties.
        neo4j_type: its type.
        rule: which properties are used.
        ends: the names of its nodes.
    """
    given = " ".join(filter(None, (value_text(own.get(source)) for source in rule.type_from)))
    relationship_type = as_words(own.get("relationship_type") or given or neo4j_type)
    text = _texts(own, rule.text_from)
    if text and all(name.casefold() in text.casefold() for name in ends):
        return relationship_type, text[:MAX_DESCRIPTION]
    named = "; ".join(
        f"{as_words(name)}: {value_text(own[name])}"
        for name in rule.text_from
        if value_text(own.get(name))
    )
    triplet = " ".join([ends[0], relationship_type, ends[1]])
    return relationship_type, "; ".join(filter(None, (triplet, named)))[:MAX_DESCRIPTION]


def _texts(own: Mapping[str, Any], names: Sequence[str]) -> str:
    """The values of some properties: the first alone, the others after their names."""
    texts = {name: text.removesuffix(".") for name in names if (text := value_text(own.get(name)))}
    if len(texts) == 1:
        return value_text(own[next(iter(texts))])
    return "; ".join(
        text if name == names[0] else f"{as_words(name)}: {text}" for name, text in texts.items()
    )


def _end_name(end: Row, ontology: Ontology) -> str:
    """The name of a node in a sentence; its label if it has none."""
    name = end["name"] if isinstance(end["name"], str) else ""
    return beginning(name, MAX_NAME) or as_words(ontology_label(end["labels"], ontology))


def _additions(wanted: Mapping[str, Any], fields: Mapping[str, Any]) -> Row:
    """The properties to set so that a record has what is wanted; what is its own, or a tool has
    replaced, stays.
    """
    added = written_by_kgagent(fields)
    replaced = {entry.field for entry in parse_history(fields.get("history"))}
    changes: Row = {
        name: value or None
        for name, value in wanted.items()
        if fields.get(name) != (value or None)
        and name not in replaced
        and (name not in fields or name in added)
    }
    return with_additions(fields, changes) if changes else {}
