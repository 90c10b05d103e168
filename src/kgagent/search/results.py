"""Reading the best records of a search in full, in one statement, with their statements and
similarities.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgagent.graph.records import RelationshipRecord
from kgagent.graph.store import Row
from kgagent.models import GraphExpansion, GraphNode, GraphRelationship
from kgagent.models.when import with_time
from kgagent.search.candidates import Candidate, entity_key_of, key_of, read_record
from kgagent.search.features import StoredRecord
from kgagent.search.retrieve import SearchSpec
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.walk import surroundings as surroundings_of

STATEMENTS_OF_RECORD = 50
"""Statements of a record that are scored: those that are nearest to the queries."""


@dataclass(frozen=True)
class ReadRecord:
    """A record in full.

    Attributes:
        record: the record.
        similarities: plain cosine of the record itself with each query; empty if it cannot be
            compared.
        statements: those of its statements that are nearest to the queries: the text, the same
            similarities, and the section of a passage of a source's text (None: it is none).
    """

    record: StoredRecord
    similarities: Sequence[float] = ()
    statements: Sequence[tuple[str, Sequence[float | None], str | None]] = ()


@dataclass(frozen=True)
class Surroundings:
    """The nodes whose surroundings are read too, with the most relationships among them and
    neighbors.
    """

    around: Sequence[str]
    relationships: int
    neighbors: int


async def read_records(
    spec: SearchSpec,
    candidates: Sequence[Candidate],
    vectors: Sequence[Sequence[float]],
    *,
    timeout: float,
    surroundings: Surroundings | None = None,
) -> tuple[dict[str, ReadRecord], GraphExpansion]:
    """Read records in full, in one statement; those that were deleted meanwhile are omitted.

    Args:
        spec: whose records, and which statements to keep.
        candidates: the records.
        vectors: of the queries; without any, no statements are read.
        timeout: seconds.
        surroundings: what else to read.

    Returns:
        The records by the key of their candidate, and the surroundings.

    Raises:
        StoreError: the database failed.
    """
    scope = spec.scope
    relationships = [
        one.record.element_id for one in candidates if isinstance(one.record, RelationshipRecord)
    ]
    keys = [
        entity_key_of(one.key)
        for one in candidates
        if not isinstance(one.record, RelationshipRecord)
    ]
    if not keys and not relationships and (surroundings is None or not surroundings.around):
        return {}, GraphExpansion()
    parameters: dict[str, Any] = {
        **spec.kept.parameters,
        "keys": keys,
        "element_ids": sorted(set(relationships)),
        "vectors": [scope.store.vector(vector) for vector in vectors if vector],
        "statement_limit": STATEMENTS_OF_RECORD if any(vectors) else 0,
    }
    name = "read_found"
    if surroundings is not None:
        name = "read_explored"
        parameters |= {
            "around": list(surroundings.around),
            "among_limit": surroundings.relationships,
            "neighbor_limit": surroundings.neighbors,
        }

    def made_of(rows: list[Row]) -> tuple[dict[str, ReadRecord], GraphExpansion]:
        read = _records(rows[0], spec)
        # The database reuses the ids of deleted relationships.
        found = {
            one.key: read[one.key]
            for one in candidates
            if one.key in read and _is_same(one, read[one.key].record)
        }
        if surroundings is None:
            return found, GraphExpansion()
        return found, surroundings_of(rows[0], scope, spec.kept)

    return await scope.read_as(made_of, scope.statement(name), parameters, timeout=timeout)


def _records(row: Row, spec: SearchSpec) -> dict[str, ReadRecord]:
    read: list[ReadRecord] = []
    for kind in ("node", "relationship"):
        for found, *of_record in row[f"{kind}s"]:
            record = read_record({kind: found}, spec.scope.ontology, spec.labels, kept=spec.kept)
            if record is not None and (
                isinstance(record, RelationshipRecord) or record.label in spec.labels
            ):
                read.append(ReadRecord(record, *of_record))
    return {key_of(one.record): one for one in read}


def _is_same(candidate: Candidate, record: StoredRecord) -> bool:
    return candidate.record is None or candidate.record.element_id == record.element_id


def path_of(candidate: Candidate, kept: RelationshipFilter) -> tuple[str, ...]:
    """The relationships that led to a candidate, as short sentences with their times."""
    return tuple(
        with_time(one.triplet, one.text("when"), kept.day, one.last_said) for one in candidate.path
    )


def model_of(
    record: StoredRecord, scope: SearchScope, kept: RelationshipFilter
) -> GraphNode | GraphRelationship:
    """The record as callers see it, with the notes that the filter keeps."""
    return kept.without_other_notes(record.to_model(scope.ontology))
