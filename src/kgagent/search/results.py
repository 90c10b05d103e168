"""Read the full records of candidates once, and make the result of a hybrid search."""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kgagent.errors import SearchError
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.store import Row
from kgagent.models import GraphExpansion, GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchResult
from kgagent.search.candidates import (
    OF_NODES,
    OF_RELATIONSHIPS,
    Candidate,
    StoredRecord,
    entity_key_of,
    key_of,
    read_node,
    read_relationship,
)
from kgagent.search.pipeline import Found
from kgagent.search.retrieve import INTERNAL_ERROR, attempt
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.surroundings import read_surroundings

FoundRecords = tuple[Mapping[str, NodeRecord], Mapping[tuple[str, str], RelationshipRecord]]
"""Nodes by key, and relationships by id and key, since the database reuses the ids of deleted ones."""

_log = logging.getLogger(__name__)


async def hydrate(
    scope: SearchScope,
    candidates: Sequence[Candidate],
    *,
    labels: Sequence[str],
    types: RelationshipFilter,
    timeout: float,
) -> tuple[list[Candidate], list[str]]:
    """Read candidates in full.

    Nodes that were retrieved are full already; relationships, and nodes that are only known as their ends, are read now
    in one statement. If that fails, the nodes remain.

    Args:
        scope: whose records.
        candidates: the items, best first.
        labels: for a node with several labels, one of these is returned.
        types: which notes to keep.
        timeout: seconds.

    Returns:
        The candidates with their results, without those that were deleted meanwhile; and warnings.

    Raises:
        SearchError: nothing could be read.
    """
    records = read_found(
        scope,
        keys=[entity_key_of(one.key) for one in candidates if one.record is None],
        element_ids=[one.record.element_id for one in candidates if isinstance(one.record, RelationshipRecord)],
        labels=labels,
    )
    (nodes, relationships), failure = await attempt(records, timeout, default=({}, {}))
    if failure is not None and not any(isinstance(one.record, NodeRecord) for one in candidates):
        if failure.reason == INTERNAL_ERROR:
            raise failure.error
        raise SearchError(f"The results could not be read: {failure.reason}")
    warnings = [] if failure is None else [f"Skipped relationships and their end nodes: {failure.reason}"]

    def with_result(candidate: Candidate) -> Candidate | None:
        record: StoredRecord | None = candidate.record or nodes.get(candidate.key)
        if isinstance(record, RelationshipRecord):
            record = relationships.get((record.element_id, candidate.key))
        try:
            return replace(candidate, record=record, result=model_of(record, scope, types)) if record else None
        except Exception:
            # One record with unexpected content must not hold back the others.
            _log.exception("A record could not be returned")
            return candidate

    # Records with many notes take a while, during which other users' calls go on.
    found = await asyncio.to_thread(lambda: [one for one in map(with_result, candidates) if one])
    hydrated = [one for one in found if one.result]
    if broken := len(found) - len(hydrated):
        warnings.append(f"Skipped {broken} results: {INTERNAL_ERROR}")
    return hydrated, warnings


def model_of(record: StoredRecord, scope: SearchScope, types: RelationshipFilter) -> GraphNode | GraphRelationship:
    """The record as callers see it, with the notes that the filter keeps."""
    return types.without_other_notes(types.then(record).to_model(scope.ontology))


def build_result(
    candidates: Sequence[Candidate],
    found: Found,
    warnings: Sequence[str],
    *,
    words: frozenset[str],
    with_relationships: bool,
) -> HybridSearchResult:
    """Make the result.

    Args:
        candidates: what is returned, hydrated, best first.
        found: what the retrievers returned; for warnings and plans.
        warnings: warnings of later stages.
        words: words of the query.
        with_relationships: whether relationships were searched.
    """
    objects, relationships = [], []
    for rank, item in enumerate(candidates, start=1):
        known = {name: getattr(item, name) for name in ("score", "found_by", "similarity", "text_score")}
        features = {} if item.features is None else item.features._asdict()
        ranked = {**known, "rank": rank, "features": features}
        if isinstance(item.result, GraphNode):
            objects.append(HybridObject(**{**dict(item.result), **ranked}))
        elif isinstance(item.record, RelationshipRecord) and item.result is not None:
            path = tuple(record.triplet for record in item.path)
            fields = {**dict(item.result), **ranked, "triplet_text": item.record.triplet, "path": path}
            relationships.append(HybridRelationship.model_validate(fields))
    rankings = found.results[0].rankings
    return HybridSearchResult(
        objects=tuple(objects),
        relationships=tuple(relationships) if with_relationships else None,
        warnings=(*found.warnings, *(_one_sided(found) if with_relationships else ()), *warnings),
        words=words,
        plan={name: ranking.plan for name, ranking in rankings.items() if ranking.plan is not None},
    )


@dataclass(frozen=True)
class Explored:
    """What explore reads: nodes by key, relationships by id and key, and the surroundings of nodes."""

    nodes: Mapping[str, NodeRecord]
    relationships: Mapping[tuple[str, str], RelationshipRecord]
    surroundings: GraphExpansion


async def read_found(
    scope: SearchScope, *, keys: Sequence[str], element_ids: Sequence[str], labels: Sequence[str]
) -> FoundRecords:
    """Read nodes with one of the labels, and relationships; StoreError is raised if the database fails."""
    if not keys and not element_ids:
        return {}, {}
    [row] = await scope.read(scope.statement("read_found"), {"keys": list(keys), "element_ids": list(element_ids)})
    return _records(scope, row, labels)


async def read_explored(
    scope: SearchScope,
    *,
    keys: Sequence[str],
    element_ids: Sequence[str],
    labels: Sequence[str],
    around: Sequence[str],
    types: RelationshipFilter,
    max_relationships: int,
    max_neighbors: int,
) -> Explored:
    """Read what explore returns, in one statement; StoreError is raised if the database fails."""
    parameters = {
        "keys": list(keys),
        "element_ids": sorted(set(element_ids)),
        "around": list(around),
        "among_limit": max_relationships,
        "neighbor_limit": max_neighbors,
        **types.parameters,
    }
    [row] = await scope.read(scope.statement("read_explored"), parameters)
    nodes, relationships = _records(scope, row, labels)
    return Explored(nodes, relationships, await read_surroundings(scope, row, types))


def _records(scope: SearchScope, row: Row, labels: Sequence[str]) -> FoundRecords:
    nodes = (read_node(node, scope.ontology, labels) for node in row["nodes"])
    relationships = map(read_relationship, row["relationships"])
    by_key = {key_of(one): one for one in nodes if one.label in labels}
    return by_key, {(one.element_id, key_of(one)): one for one in relationships}


def _one_sided(found: Found) -> Iterator[str]:
    """Warn if only nodes or only relationships matched although both were searched."""
    records = [
        one.record for result in found.results for ranking in result.rankings.values() for one in ranking.candidates
    ]
    nodes = any(isinstance(record, NodeRecord) for record in records)
    relationships = any(isinstance(record, RelationshipRecord) for record in records)
    if nodes and not relationships and not any(name in found.failures for name in OF_RELATIONSHIPS):
        yield "No relationship matched; the results are nodes"
    if relationships and not nodes and not any(name in found.failures for name in OF_NODES):
        yield "No node matched by itself; the results are relationships and their end nodes"
