"""The index of statements: which entries a record has, which of them a write changes, and how they
are written.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from kgagent.embedding.base import Embedder
from kgagent.formatting import has_unpaired_surrogates
from kgagent.graph.passages import passages_of
from kgagent.graph.property_names import DAYS, NO_DAYS, PERIODS, SOURCE_TEXT
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.store import Row
from kgagent.graph.stored_embeddings import embedding_hash
from kgagent.graph.writes import (
    IndexedStatement,
    RecordKind,
    RecordStatements,
    RecordT,
    StatementsChange,
    StatementTime,
    VectorChange,
    VectorSource,
)
from kgagent.models.history import FormerDescription, former_descriptions, had_other_type
from kgagent.models.note import format_utc
from kgagent.models.passage import in_section
from kgagent.models.when import periods_of
from kgagent.trust import level

STATEMENT_FORMAT = 5
"""Version of the entries in the index of statements; those of an earlier one are made again."""


def record_statements(
    kind: RecordKind[RecordT, Any], record: RecordT, now: datetime
) -> RecordStatements:
    """The statements of a record: the record itself with its description, each of its notes, its
    former descriptions, and the passages of its text.

    A note with the text of the description is the same statement.

    Args:
        kind: nodes or relationships.
        record: the record.
        now: the present time.
    """
    is_relationship = isinstance(record, RelationshipRecord)
    without_notes = {name: value for name, value in record.properties.items() if name != "notes"}
    texts: dict[str, IndexedStatement] = {}
    since = record.known_since
    if embedded := kind.text(replace(record, properties=without_notes), now):
        description = record.text("description")
        times = record.stated_times
        is_dated = isinstance(record, RelationshipRecord) and record.dated is not None
        had_other = is_relationship and had_other_type(record.history)
        began_earlier = had_other or (bool(times) and not is_dated)
        one = IndexedStatement(
            embedded,
            tuple(StatementTime(time, None, since) for time in times or (None,)),
            is_record=True,
            began_earlier=began_earlier,
            trust=level(record.trust),
        )
        texts[description if description.strip() else ""] = one
    for note in (*record.notes, *former_descriptions(record.properties, record.history)):
        if note.content.strip() and not has_unpaired_surrogates(note.content):
            # That a description held is no event: no search between days finds it.
            time = StatementTime(
                None if isinstance(note, FormerDescription) else note.when,
                None if note.expires_at is None else format_utc(note.expires_at),
                max(note.known_since, since),
            )
            known = texts.get(note.content, IndexedStatement(note.content, ()))
            trust = max(known.trust, level(note.trust))
            texts[note.content] = known._replace(times=(*known.times, time), trust=trust)
    for passage in passages_of(record.text(SOURCE_TEXT)):
        time = StatementTime(record.text("said_on") or None, None, since)
        stated = texts.get(passage.text)
        if stated is not None and not stated.is_passage:
            continue
        # The same words below several headings are one statement.
        named = stated.section.split("; ") if stated else []
        section = "; ".join(filter(None, dict.fromkeys([*named, passage.section])))
        texts[passage.text] = IndexedStatement(
            in_section(passage.text, section),
            (time,),
            is_passage=True,
            section=section,
            trust=level(record.trust),
        )
    names = record.properties.get("is_reversed") is True if is_relationship else record.text("name")
    return RecordStatements(kind.statement_location(record), names, texts)


def statements_hash(embedder: Embedder, statements: RecordStatements) -> str | None:
    """Fingerprint of the statements of a record under a model, stored with it if they are indexed;
    None without any.
    """
    if not statements.texts:
        return None
    content = json.dumps(
        [STATEMENT_FORMAT, statements.location, statements.names, statements.texts]
    )
    return embedding_hash(embedder, content)


def statements_change(
    embedder: Embedder,
    statements: RecordStatements,
    *,
    before: RecordStatements | None,
    indexed: object,
    current_text: str | None,
) -> StatementsChange | None:
    """How the entries of a record change; None if they do not.

    Args:
        embedder: makes the embeddings.
        statements: the statements of the record after the write.
        before: those of the stored record; None for a new one.
        indexed: the fingerprint that is stored with the record.
        current_text: the text whose embedding the record has and keeps; None if it has none.
    """
    fingerprint = statements_hash(embedder, statements)
    if indexed == fingerprint:
        return None
    is_known = (
        before is not None
        and before.location["record"] == statements.location["record"]
        and indexed == statements_hash(embedder, before)
    )
    known = before if is_known and before is not None else RecordStatements({}, None, {})
    has_other_properties = (known.location, known.names) != (statements.location, statements.names)
    sources: dict[str, VectorSource] = {}
    for text, statement in statements.texts.items():
        indexed_one = known.texts.get(text)
        if has_other_properties or indexed_one != statement:
            is_stored = indexed_one is not None and indexed_one.embedded == statement.embedded
            sources[text] = (
                "stored" if is_stored else "record" if statement.embedded == current_text else "new"
            )
    return StatementsChange(
        statements, fingerprint, sources, is_renamed=known.names != statements.names
    )


def index_row(kind: RecordKind[Any, Any], change: VectorChange, embedder: Embedder) -> Row | None:
    """The parameter by which a statement indexes the statements of a record; see
    `_index_statements.cypher`.
    """
    if change.statements is None:
        return None
    statements = change.statements.statements
    record = statements.location["record"]
    changed = [
        (text, source, statements.texts[text]) for text, source in change.statements.sources.items()
    ]
    return {
        "record": record,
        "keys": [statement_key(record, text) for text in statements.texts],
        "is_renamed": change.statements.is_renamed,
        "changed": [
            {
                "properties": {
                    **statements.location,
                    **_stored_times(statement),
                    "entity_key": statement_key(record, text),
                    "text": text,
                    "is_record": statement.is_record or None,
                    "is_passage": statement.is_passage or None,
                    "section": statement.section or None,
                    "trust": statement.trust,
                    "embedding_hash": embedding_hash(embedder, statement.embedded),
                    "embedding_model": embedder.model,
                },
                "has_vector_of_record": source == "record",
                "vector": kind.store.vector(change.statements.vectors.get(text)),
            }
            for text, source, statement in changed
        ],
    }


def _stored_times(statement: IndexedStatement) -> Row:
    """What an entry stores of its times: the days, and the last expiry unless one never expires.

    A record that was there before its times began long ago for `as_of`; `between` compares its
    periods.
    """
    times = statement.times
    expiries = [time.expires_at for time in times]
    expiry = None if None in expiries else datetime.fromisoformat(max(filter(None, expiries)))
    days = days_of(time.when for time in times)
    if days[DAYS[0]] is None:
        days |= dict(zip(DAYS, NO_DAYS, strict=True))
    elif statement.began_earlier:
        periods = days[PERIODS] or [days[name] for name in DAYS]
        days |= {DAYS[0]: NO_DAYS[0], PERIODS: periods}
    return {**days, "expires_at": expiry, "known_since": min(time.known_since for time in times)}


def days_of(times: Iterable[object]) -> dict[str, Any]:
    """The first and the last day of some times, and all days of several periods, as stored; None if
    none is known.
    """
    periods = sorted({period for time in times for period in periods_of(time)})
    if not periods:
        return dict.fromkeys((*DAYS, PERIODS))
    latest = max(period.latest for period in periods)
    every = [day for period in periods for day in period] if len(periods) > 1 else None
    return {**dict(zip(DAYS, (periods[0].earliest, latest), strict=True)), PERIODS: every}


def statement_key(record: str, text: str) -> str:
    """The key of the entry of a statement of a record."""
    return hashlib.sha256(f"{record}\n{text}".encode(errors="surrogatepass")).hexdigest()[:32]
