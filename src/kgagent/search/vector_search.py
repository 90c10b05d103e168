"""Vector search as a retriever: a user's nearest vectors, one by one or by an index; relationships
expanded by hops.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kgagent.concurrency import task_group
from kgagent.graph.features import ServerFeatures
from kgagent.graph.records import NodeRecord
from kgagent.graph.statements import Fragment, Statement
from kgagent.ontology import Ontology
from kgagent.search.arguments import MAX_LIMIT
from kgagent.search.candidates import Candidate, Ranking, key_of, read_record, statement_candidate
from kgagent.search.features import StoredRecord
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.vector_targets import (
    ALL_FIELDS,
    RANKING_FIELDS,
    EmbeddedQuery,
    VectorTarget,
    node_target,
    relationship_target,
    statement_target,
)

if TYPE_CHECKING:
    from kgagent.search.index_search import WidenedIndex

COUNT_LIFETIME = 60.0
"""Seconds for which the number of vectors is cached; a record of another program is found after
these at most.
"""

COUNTED = 10_000
"""Number of a user's records up to which they are counted."""

SCANNED_IN_ONE_STATEMENT = 500
"""Number of vectors up to which a target shares a statement with others: comparing so many costs
about a round trip.
"""

STATEMENTS_OF_MATCH = 8
"""Statements of a record that a retriever returns: the best ones; so one with many leaves room for
others.
"""

NODE_SPAN, RELATIONSHIP_SPAN = 20, 50
"""Rank of the match that the best one is compared with, to assess how far it stands out."""


class Count(NamedTuple):
    """Number of records or statements of a user.

    Attributes:
        found: how many there are.
        unindexed: how many of them, records, have no entries in the index of statements.
    """

    found: int = 0
    unindexed: int = 0


@dataclass(frozen=True)
class VectorRequest:
    """A search of one target for at most `limit` matches of each query."""

    scope: SearchScope
    target: VectorTarget
    queries: Sequence[EmbeddedQuery]
    limit: int

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that all statements of vector search take."""
        vector = self.scope.store.vector
        queries = [
            {"position": position, "vector": vector(query.vector), "threshold": query.threshold}
            for position, query in enumerate(self.queries)
        ]
        return {
            **self.target.filters,
            "limit": self.limit,
            "of_record": STATEMENTS_OF_MATCH,
            "queries": queries,
        }

    def candidates(self, row: Mapping[str, Any]) -> list[Candidate]:
        """Read the matches of one query."""
        found = (
            (record, match)
            for match in row["matches"]
            if (record := self._record(match)) is not None
        )
        if self.target.kind == "statements":
            return [statement_candidate(record, match) for record, match in found]
        return [
            Candidate(key_of(record), match["similarity"], record, match["similarity"])
            for record, match in found
        ]

    def _record(self, match: Mapping[str, Any]) -> StoredRecord | None:
        labels = [self.target.label] if self.target.kind == "nodes" else ()
        return read_record(match, self.scope.ontology, labels)


class VectorSearch:
    """Exact scan or index, by how many vectors the user has; StoreError is raised if the database
    fails.
    """

    def __init__(self, index: "WidenedIndex", *, exact_scan_limit: int | None) -> None:
        self._index = index
        self._exact_scan_limit = (
            index.exact_scan_limit if exact_scan_limit is None else exact_scan_limit
        )
        self._counts: dict[tuple[str, str], tuple[float, Count]] = {}

    async def search(
        self, scope: SearchScope, target: VectorTarget, queries: Sequence[EmbeddedQuery], limit: int
    ) -> list[Ranking]:
        """Find the user's nearest vectors: `limit` for each query, or all if there are fewer."""
        if not queries:
            return []
        request = VectorRequest(scope, target, queries, limit)
        [count] = await self.counts(scope, [target])
        if count.found <= self._exact_scan_limit:
            return [Ranking(candidates, "exact") for candidates in await scan(request)]
        return [
            Ranking(candidates, self._index.plan)
            for candidates in await self._index.search(request)
        ]

    async def search_each(
        self,
        scope: SearchScope,
        targets: Sequence[VectorTarget],
        queries: Sequence[EmbeddedQuery],
        limit: int,
    ) -> list[list[Ranking]]:
        """Search several targets concurrently; small ones share a statement.

        Returns:
            For each target, a ranking for each query.
        """
        if not queries:
            return [[] for _ in targets]
        counts = [count.found for count in await self.counts(scope, targets)]
        most = min(self._exact_scan_limit, SCANNED_IN_ONE_STATEMENT)
        small = [target for target, count in zip(targets, counts, strict=True) if count <= most]
        async with task_group() as group:
            scanned = group.create_task(
                scan_each([VectorRequest(scope, one, queries, limit) for one in small])
            )
            medium = {
                target.name: group.create_task(self.search(scope, target, queries, limit))
                for target, count in zip(targets, counts, strict=True)
                if most < count <= self._exact_scan_limit
            }
            large = [
                target
                for target, count in zip(targets, counts, strict=True)
                if count > self._exact_scan_limit
            ]
            indexed = group.create_task(
                self._index.search_each(
                    [VectorRequest(scope, one, queries, limit) for one in large]
                )
            )
        found = {
            name: [Ranking(each, "exact") for each in matches]
            for name, matches in scanned.result().items()
        }
        found |= {name: task.result() for name, task in medium.items()}
        plan = self._index.plan
        found |= {
            name: [Ranking(each, plan) for each in matches]
            for name, matches in indexed.result().items()
        }
        return [found[target.name] for target in targets]

    async def counts(self, scope: SearchScope, targets: Sequence[VectorTarget]) -> list[Count]:
        """Count what the user has in each target; counting stops at `COUNTED`, or behind the exact
        scan.
        """
        now = time.monotonic()
        cached = [
            self._counts.get((target.name, scope.user_id), (0.0, Count())) for target in targets
        ]
        unknown = [
            target for target, (expires, _) in zip(targets, cached, strict=True) if expires <= now
        ]
        new: dict[str, Count] = {}
        if unknown:
            text = union(*(target.count_statement for target in unknown))
            new = {
                row["label"]: Count(row["found"], row["unindexed"])
                for row in await scope.read(
                    text, {"scan_limit": max(COUNTED, self._exact_scan_limit)}
                )
            }
            if len(self._counts) > MAX_LIMIT:
                self._counts.clear()
            self._counts |= {
                (one.name, scope.user_id): (now + COUNT_LIFETIME, new[one.label]) for one in unknown
            }
        return [
            new.get(target.label, count) for target, (_, count) in zip(targets, cached, strict=True)
        ]


class VectorRetrievers:
    """Finds nodes and relationships near vectors; StoreError is raised if the database fails."""

    def __init__(self, vectors: VectorSearch, ontology: Ontology, features: ServerFeatures) -> None:
        self._vectors = vectors
        self._ontology = ontology
        self._features = features
        self._nodes = {label: node_target(label) for label in ontology.labels}
        self._statement_target = lru_cache(maxsize=100)(
            lambda neo4j_types: statement_target(ontology, neo4j_types)
        )
        self._relationships: dict[tuple[tuple[str, ...] | None, Fragment], VectorTarget] = {}

    async def nodes(
        self,
        scope: SearchScope,
        queries: Sequence[EmbeddedQuery],
        *,
        labels: Sequence[str],
        limit: int,
    ) -> list[Ranking]:
        """Find the nodes near each of several vectors, all labels concurrently; each node once,
        best first.

        Args:
            scope: whose nodes.
            queries: vectors to search for.
            labels: labels to search, at least one.
            limit: maximum number of nodes of each label and query.
        """
        targets = [self._nodes[label] for label in labels]
        by_label = await self._vectors.search_each(scope, targets, queries, limit)
        return [
            self._merged([rankings[position] for rankings in by_label])
            for position in range(len(queries))
        ]

    async def relationships(
        self,
        scope: SearchScope,
        queries: Sequence[EmbeddedQuery],
        *,
        types: RelationshipFilter,
        limit: int,
        fields: Fragment = ALL_FIELDS,
    ) -> list[Ranking]:
        """Find the relationships near each of several vectors in one statement, best first.

        Args:
            scope: whose relationships.
            queries: vectors to search for.
            types: which relationships to keep.
            limit: maximum number of relationships of each query.
            fields: what is read of each relationship.

        Raises:
            StoreError: the database failed.
        """
        if types.matches_nothing:
            return [Ranking(plan="none") for _ in queries]
        rankings = await self._vectors.search(scope, self.target(types, fields), queries, limit)
        return [replace(one, span=_span(one.candidates, RELATIONSHIP_SPAN)) for one in rankings]

    async def statements(
        self,
        scope: SearchScope,
        queries: Sequence[EmbeddedQuery],
        *,
        types: RelationshipFilter,
        limit: int,
    ) -> list[Ranking]:
        """Find the statements near each of several vectors, in one statement: their records, best
        first.

        Args:
            scope: whose statements.
            queries: vectors to search for.
            types: of which relationships; those of nodes are found too.
            limit: maximum number of records of each query.

        Raises:
            StoreError: the database failed.
        """
        if types.matches_nothing:
            return [Ranking(plan="none") for _ in queries]
        target = self._filtered(self._statement_target(types.neo4j_types), types)
        rankings = await self._vectors.search(scope, target, queries, limit)
        return [replace(one, span=_statement_span(one.candidates)) for one in rankings]

    async def prepare(
        self, scope: SearchScope, types: RelationshipFilter, labels: Sequence[str]
    ) -> Count:
        """Count the records and statements that a search compares, in one statement, for those that
        follow.

        Returns:
            The number of the user's relationships, and of the records that are not in the index of
            statements.

        Raises:
            StoreError: the database failed.
        """
        statements = self._statement_target(types.neo4j_types)
        targets = [
            self.target(types, RANKING_FIELDS),
            statements,
            *(self._nodes[label] for label in labels),
        ]
        counts = await self._vectors.counts(scope, targets)
        return Count(counts[0].found, sum(count.unindexed for count in counts))

    def target(self, types: RelationshipFilter, fields: Fragment) -> VectorTarget:
        """The relationships that a filter keeps, and what is read of each."""
        key = (types.neo4j_types, fields)
        if key not in self._relationships:
            self._relationships[key] = relationship_target(
                self._ontology, self._features, types.neo4j_types, fields
            )
        return self._filtered(self._relationships[key], types)

    @staticmethod
    def _filtered(target: VectorTarget, types: RelationshipFilter) -> VectorTarget:
        return replace(target, filters=types.parameters, is_filtered_later=types.has_conditions)

    def _merged(self, rankings: Sequence[Ranking]) -> Ranking:
        once: dict[str, Candidate] = {}
        for candidate in sorted(
            (one for ranking in rankings for one in ranking.candidates), key=self._best_first
        ):
            once.setdefault(candidate.key, candidate)
        plans = [ranking.plan for ranking in rankings]
        plan = next((plan for plan in plans if plan != "exact"), plans[0])
        return Ranking(list(once.values()), plan, _span(list(once.values()), NODE_SPAN))

    def _best_first(self, candidate: Candidate) -> tuple[float, int, str]:
        label = candidate.record.label if isinstance(candidate.record, NodeRecord) else ""
        return (-candidate.score, self._ontology.label_order[label], candidate.key)


async def scan(request: VectorRequest) -> list[list[Candidate]]:
    """Compare each vector of the user with each query."""
    rows = await request.scope.read(request.target.exact_statement, request.parameters)
    return [request.candidates(row) for row in rows]


async def scan_each(requests: Sequence[VectorRequest]) -> dict[str, list[list[Candidate]]]:
    """Compare each vector of the user in several targets, in one statement; the matches by name of
    the target.
    """
    if not requests:
        return {}
    text = union(*(request.target.exact_statement for request in requests))
    rows = await requests[0].scope.read(text, requests[0].parameters)
    found = {(row["label"], row["query"]): row for row in rows}
    return {
        request.target.name: [
            request.candidates(found[request.target.name, position])
            for position in range(len(request.queries))
        ]
        for request in requests
    }


@lru_cache(maxsize=100)
def union(*statements: Statement) -> Statement:
    """One statement with the rows of several, in this order."""
    return Statement("\nUNION ALL\n".join(statements), statements[0].name)


def _statement_span(candidates: Sequence[Candidate]) -> tuple[float, float] | None:
    """The best and, of the first 50 statements, the least similarity; None of a few."""
    similarities = sorted(
        (one or 0.0 for candidate in candidates for one in candidate.statements.values()),
        reverse=True,
    )
    return (
        (similarities[0], similarities[:RELATIONSHIP_SPAN][-1])
        if len(similarities) >= NODE_SPAN
        else None
    )


def _span(candidates: Sequence[Candidate], rank: int) -> tuple[float, float] | None:
    return (
        (candidates[0].score, candidates[:rank][-1].score) if len(candidates) >= NODE_SPAN else None
    )
