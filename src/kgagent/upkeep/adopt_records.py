"""Adopting records: what nodes and relationships of other programs lack is added to them, and can
be removed again.

A record keeps a ledger of what kgagent wrote. What another program has changed since is its own,
and stays. What is made of other properties, such as a name or a time, is made again when these have
changed, unless a tool has replaced it since.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from neo4j.time import DateTime

from kgagent.batches import batched
from kgagent.formatting import beginning
from kgagent.graph.adopted import fingerprint, ledger, written_by, written_by_kgagent
from kgagent.graph.aliases import MAX_ALIASES
from kgagent.graph.deleted_records import LONG_TIMEOUT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import (
    ADOPTED,
    ADOPTED_HASHES,
    NODE_BOOKKEEPING,
    OLD_EMBEDDINGS,
    RELATIONSHIP_BOOKKEEPING,
)
from kgagent.graph.records import ontology_label
from kgagent.graph.relationships import parallel_key
from kgagent.graph.schema import SHOW_INDEXES
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.when import periods_of
from kgagent.ontology import Ontology
from kgagent.ontology.definitions import NodeLabel, RelationshipDefinition
from kgagent.ontology.model import as_words
from kgagent.progress import Progress
from kgagent.upkeep.adopt_inference import date_in, is_readable, names_in, value_text

BATCH_SIZE = 1_000
"""Records of a transaction."""

MAX_NAME = 80
MAX_DESCRIPTION = 20_000
"""Characters of a name that is the beginning of a text, and of a description."""

_CONTENT = frozenset({"user_id", "name", "relationship_type", "description"})
_KEYS = {"nodes": "entity_key", "relationships": "relationship_key"}


async def obstacles(store: Store, user_id: str) -> dict[str, Any]:
    """The parameters by which statements tell which records cannot be adopted for a user.

    Raises:
        StoreError: the database failed.
    """
    parameters = {"user_id": user_id, "own_labels": sorted(OWN_LABELS)}
    shared = await store.read(statement("find_shared_keys"), parameters, timeout=LONG_TIMEOUT)
    return {
        **parameters,
        "reserved_of_nodes": list(NODE_BOOKKEEPING),
        "reserved_of_relationships": [*RELATIONSHIP_BOOKKEEPING, *OLD_EMBEDDINGS],
        "shared_keys": [row["key"] for row in shared],
        "unique": [
            [covered, name]
            for row in await store.run_schema(SHOW_INDEXES)
            if row["is_unique"] and not {*_KEYS.values()} & {*row["properties"]}
            for covered in row["labelsOrTypes"]
            for name in row["properties"]
            if name in _CONTENT
        ],
    }


async def adopt_records(store: Store, ontology: Ontology, progress: Progress) -> None:
    """Add what is missing to all records without an owner that the ontology covers, nodes first.

    Every record is complete on its own, so an interrupted run is continued by the next one. A
    record that changes meanwhile is left for that one too.

    Args:
        store: the database.
        ontology: says whom the records belong to, and what names and descriptions are made of.
        progress: reports the records.

    Raises:
        StoreError: the database failed.
    """
    owner = ontology.adopted_for or ""
    parameters = {**await obstacles(store, owner), "text_limit": MAX_DESCRIPTION}
    names = {
        "labels": Identifier.any_of(ontology.labels),
        "types": Identifier.any_of(ontology.relationships),
    }
    additions = {"nodes": _node_additions, "relationships": _relationship_additions}
    for kind, of_row in additions.items():
        with progress.task(f"Adopting {kind}") as advance:
            text = statement(f"read_adoptable_{kind}", **names)
            async with store.stream(text, parameters) as rows:
                async for batch in batched(rows, BATCH_SIZE):
                    changes = [_change(row, of_row(row, ontology)) for row in batch]
                    await _write(store, owner, kind, [one for one in changes if one["properties"]])
                    advance(len(batch))


async def undo_adoption(store: Store, user_id: str, progress: Progress) -> int:
    """Remove what kgagent has written to adopted records, whichever ontology it had.

    Args:
        store: the database.
        user_id: the user for whom they were adopted.
        progress: reports the records.

    Returns:
        The number of records that were changed.

    Raises:
        StoreError: the database failed.
    """
    parameters: dict[str, Any] = {
        "user_id": user_id,
        "owner": fingerprint("user_id", user_id),
        "own_labels": sorted(OWN_LABELS),
    }
    restored = 0
    with progress.task("Restoring records") as advance:
        while True:
            found = written = 0
            async with store.stream(statement("find_adopted"), parameters) as rows:
                async for batch in batched(rows, BATCH_SIZE):
                    for kind in _KEYS:
                        some = [_removal(row) for row in batch if row["kind"] == kind]
                        written += await _write(store, user_id, kind, some)
                    found += len(batch)
                    advance(len(batch))
            restored += written
            # What another write has changed since it was read is read again.
            if written in {0, found}:
                return restored


async def _write(store: Store, user_id: str, kind: str, rows: Sequence[Row]) -> int:
    if not rows:
        return 0
    text = statement(f"write_foreign_{kind}")
    [row] = await store.write(text, {"user_id": user_id, "rows": rows})
    return int(row["written"])


def _change(row: Row, properties: Row) -> Row:
    names = {"user_id", *properties}
    return {
        "element_id": row["element_id"],
        "before": {name: value for name, value in row["fields"] if name in names},
        "properties": properties,
        "unindexed": None,
    }


def _removal(row: Row) -> Row:
    # A time in UTC is read as one in a zone of that name, which Cypher does not take for equal.
    fields = {
        name: value.to_native().astimezone(UTC) if isinstance(value, DateTime) else value
        for name, value in row["fields"]
    }
    names = {*written_by_kgagent(fields), ADOPTED, ADOPTED_HASHES} & fields.keys()
    return {
        "element_id": row["element_id"],
        "before": {name: fields[name] for name in names},
        "properties": dict.fromkeys(names),
        "unindexed": fields.get(_KEYS[row["kind"]]),
    }


def _node_additions(row: Row, ontology: Ontology) -> Row:
    """The properties to set on a node; none if it has all."""
    fields = dict(row["fields"])
    rule = ontology.labels[ontology_label(row["labels"], ontology)]
    name, aliases, description = node_texts(own_properties(fields), rule)
    wanted = {
        "entity_key": fields.get("entity_key") or str(uuid.uuid4()),
        "user_id": ontology.adopted_for,
        "name": name,
        "aliases": aliases,
        "description": description,
    }
    return _additions(wanted, fields)


def _relationship_additions(row: Row, ontology: Ontology) -> Row:
    """The properties to set on a relationship; none if it has all."""
    fields = dict(row["fields"])
    rule = ontology.relationships[row["type"]]
    ends = [_end_name(row[end], ontology) for end in ("from", "to")]
    own = own_properties(fields)
    relationship_type, description = relationship_texts(own, row["type"], rule, ends)
    is_another = row["earlier"] and "relationship_key" not in fields
    wanted = {
        "user_id": ontology.adopted_for,
        "relationship_key": parallel_key() if is_another else fields.get("relationship_key"),
        "relationship_type": relationship_type,
        "description": description,
        "when": _when(own, rule),
    }
    return _additions(wanted, fields)


def _when(own: Mapping[str, Any], rule: RelationshipDefinition) -> str | None:
    """When a relationship held, in EDTF; None if its properties do not say it."""
    begin, sign, end = rule.when_from.partition("/")
    days = [date_in(own.get(name)) for name in (begin, end)]
    when = f"{days[0] or '..'}/{days[1] or '..'}" if sign else days[0]
    return when if any(days) and periods_of(when) else None


def node_texts(own: Mapping[str, Any], rule: NodeLabel) -> tuple[str, list[str], str]:
    """The name, the other names and the description that a node gets from its own properties; each
    empty if there is nothing for it. Beside a `name` of its own, all names are other names.
    """
    description = _texts(own, rule.text_from)
    given = [names for source in rule.name_from if (names := names_in(own.get(source)))]
    said = value_text(own.get("description")) or description
    made = beginning(" ".join(names[0] for names in given), MAX_NAME)
    name = made or beginning(said, MAX_NAME)
    known = ("", value_text(own.get("name")) or name)
    others = dict.fromkeys([made, *(other for names in given for other in names[1:])])
    aliases = [other for other in others if other not in known][:MAX_ALIASES]
    return name, aliases, description[:MAX_DESCRIPTION]


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
    """The values of some properties: the first alone if it is text, others after their names."""
    texts = {name: text.removesuffix(".") for name in names if (text := value_text(own.get(name)))}
    if len(texts) == 1 and is_readable(*texts.values()):
        return value_text(own[next(iter(texts))])
    return "; ".join(
        text if name == names[0] and is_readable(text) else f"{as_words(name)}: {text}"
        for name, text in texts.items()
    )


def _end_name(end: Row, ontology: Ontology) -> str:
    """The name of a node in a sentence; its label if it has none."""
    name = end["name"] if isinstance(end["name"], str) else ""
    return beginning(name, MAX_NAME) or as_words(ontology_label(end["labels"], ontology))


def own_properties(fields: Mapping[str, Any]) -> Row:
    """The properties that kgagent has not written."""
    added = written_by_kgagent(fields)
    return {name: value for name, value in fields.items() if name not in added}


def _additions(wanted: Mapping[str, Any], fields: Mapping[str, Any]) -> Row:
    """The properties to set so that a record has what is wanted; what is its own, or a tool has
    replaced, stays.
    """
    made, replaced = written_by("adoption", fields), written_by("tool", fields)
    changes: Row = {
        name: value or None
        for name, value in wanted.items()
        if fields.get(name) != (value or None)
        and name not in replaced
        and (name not in fields or name in made)
    }
    if not changes:
        return {}
    if "version" in written_by_kgagent(fields):
        changes["version"] = fields["version"] + 1
    return changes | ledger(fields, changes, "adoption")
