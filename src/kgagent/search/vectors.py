"""Vector search: a user's nearest nodes, relationships and statements, compared one by one or found
by an index.

What few vectors the user has are compared exactly; for more, the index is asked in the way that the
server supports, and asked again for more matches until as many are found as exist.
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from kgagent.concurrency import task_group
from kgagent.errors import StatementTimeoutError, StoreError
from kgagent.graph.features import ServerFeatures
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import NodeRecord
from kgagent.graph.schema_parts import STATEMENT, node_vector_index, relationship_vector_indexes
from kgagent.graph.statements import Filling, Fragment, Statement, statement
from kgagent.graph.store import Row
from kgagent.graph.vector_index_options import IndexScores
from kgagent.models.search import SearchPlan
from kgagent.ontology import Ontology
from kgagent.search.arguments import MAX_LIMIT
from kgagent.search.candidates import (
    STATEMENTS_OF_MATCH,
    Candidate,
    Ranking,
    first_of_each,
    key_of,
    read_record,
    statement_candidate,
)
from kgagent.search.query import EmbeddedQuery
from kgagent.search.scope import EVERY, RelationshipFilter, SearchScope

ALL_FIELDS = Fragment("_found_relationship")
"""Everything of a relationship that a result may contain."""

RANKING_FIELDS = Fragment("_ranked_relationship")
"""What ranking and expansion need to know of a relationship; the rest is read for results only."""

CACHE_LIFETIME = 60.0
"""Seconds for which the number of a user's vectors and the configuration of an index are cached; a
record of another program is found after these at most.
"""

COUNTED = 10_000
"""Number of a user's records up to which they are counted."""

MIN_CANDIDATES = 200
"""Minimum number of vectors that an index compares: with fewer, a search for a single match would
often miss it.
"""

WIDER = 5
"""Factor by which a search that found too few matches is repeated wider."""

LATER_FILTERS = 2
"""Factor of the first search if its matches are filtered: one wider search costs less than a second
one.
"""

FEWEST_ASSESSED, LAST_ASSESSED = 20, 50
"""Number of similarities without which it is not assessed how far the best stands out, and the rank
of the one that it is compared with.
"""


class Count(NamedTuple):
    """Number of records or statements of a user.

    Attributes:
        found: how many there are.
        unindexed: how many of them, records, have no entries in the index of statements.
    """

    found: int = 0
    unindexed: int = 0


@dataclass(frozen=True)
class VectorTarget:
    """Where a vector search searches.

    Attributes:
        kind: what is searched, as the names of its statements have it.
        label: label of the nodes or statements; empty for relationships.
        types: the Neo4j types, if they are restricted.
        indexes: names of its vector indexes.
        places: what fills the places of its statements.
        covered: what fills the places of the statement that counts what its indexes cover.
        kept: which relationships, and the statements of which, are kept.
    """

    kind: Literal["nodes", "relationships", "statements"]
    label: str
    types: Sequence[str] | None
    indexes: Sequence[str]
    places: Mapping[str, Filling]
    covered: Mapping[str, Filling]
    kept: RelationshipFilter | None = None

    def statement(self, how: Literal["count", "exact", "index", "procedure", "total"]) -> Statement:
        """Counts the vectors of a user, compares each of them, searches an index that filters
        inside itself or one that cannot, or counts the records of all users.
        """
        if how == "count":
            return statement(f"count_{self.kind}", **self.places)
        if how == "total":
            name = "total_relationships" if self.kind == "relationships" else "total_nodes"
            return statement(name, **self.covered)
        if how == "index":
            index = Identifier(self.indexes[0])
            return statement(
                f"search_{self.kind}_index", index=index, **self._within, **self.places
            )
        return statement(f"search_{self.kind}_{how}", **self.places)

    @property
    def filters(self) -> Mapping[str, Any]:
        """Parameters of its statements beside the common ones."""
        return {} if self.kept is None else self.kept.parameters

    @property
    def is_filtered_later(self) -> bool:
        """Whether the statements filter what the index returns."""
        return self.kept is not None and self.kept.has_conditions

    @property
    def _within(self) -> dict[str, Fragment]:
        """What the index filters by beside the user: days only where everything that a filter keeps
        has days, trust only of statements.
        """
        filters, of_statements = self.filters, self.kind == "statements"
        chosen, by_type = filters.get("filter", {}), filters.get("relationship_types") is not None
        types = "_within_statement_types" if of_statements else "_within_types"
        by_days = chosen.get("between") or (of_statements and chosen.get("as_of"))
        # As known at another time, a relationship may have other days than the index.
        by_days = by_days and not chosen["known_as_of"]
        days = "_within_statement_days" if of_statements else "_within_days"
        trust = "_nothing" if chosen.get("min_trust") is None else "_within_trust"
        return {
            "within_types": Fragment(types if by_type else "_nothing"),
            "within_days": Fragment(days if by_days else "_nothing"),
            **({"within_trust": Fragment(trust)} if of_statements else {}),
        }


def relationship_target(
    ontology: Ontology,
    features: ServerFeatures,
    neo4j_types: Sequence[str] | None,
    fields: Fragment,
) -> VectorTarget:
    """All relationships, or those of some Neo4j types; `fields` is what is read of each match."""
    types = tuple(ontology.relationships if neo4j_types is None else neo4j_types)
    indexes = relationship_vector_indexes(ontology, features)
    return VectorTarget(
        kind="relationships",
        label="",
        types=neo4j_types,
        indexes=[name for name, covered in indexes.items() if not set(covered).isdisjoint(types)],
        places={
            "labels": Identifier.any_of(ontology.labels),
            "types": Identifier.any_of(types),
            "relationship": fields,
        },
        covered={"types": Identifier.any_of(ontology.relationships)},
    )


def statement_target(ontology: Ontology, neo4j_types: Sequence[str] | None) -> VectorTarget:
    """The statements of all nodes, and of the relationships of some Neo4j types."""
    types = ontology.relationships if neo4j_types is None else neo4j_types
    return VectorTarget(
        kind="statements",
        label=STATEMENT,
        types=neo4j_types,
        indexes=[node_vector_index(STATEMENT)],
        places={
            "label": Identifier(STATEMENT),
            "labels": Identifier.any_of(ontology.labels),
            "types": Identifier.any_of(types),
            "relationship": RANKING_FIELDS,
        },
        covered={"labels": Identifier(STATEMENT)},
    )


def node_target(label: str) -> VectorTarget:
    """The nodes of one label."""
    return VectorTarget(
        kind="nodes",
        label=label,
        types=None,
        indexes=[node_vector_index(label)],
        places={"label": Identifier(label)},
        covered={"labels": Identifier(label)},
    )


@dataclass(frozen=True)
class VectorRequest:
    """A search of targets of one kind for at most `limit` matches of each query in each target."""

    scope: SearchScope
    targets: Sequence[VectorTarget]
    queries: Sequence[EmbeddedQuery]
    limit: int

    async def rows(
        self, how: Literal["exact", "index", "procedure"], **more: object
    ) -> list[list[tuple[list[Candidate], Row]]]:
        """For each target and query the matches, and the row that has them."""
        vector = self.scope.store.vector
        queries = [
            {"position": position, "vector": vector(query.vector), "threshold": query.threshold}
            for position, query in enumerate(self.queries)
        ]
        parameters: dict[str, Any] = {
            **self.targets[0].filters,
            "limit": self.limit,
            "of_record": STATEMENTS_OF_MATCH,
            "queries": queries,
            "query": queries[0],
            **more,
        }

        def made_of(rows: list[Row]) -> list[list[tuple[list[Candidate], Row]]]:
            by_place = {(row["label"], row["query"]): row for row in rows}
            every = [
                [by_place[target.label, position] for position in range(len(self.queries))]
                for target in self.targets
            ]
            return [
                [(self._candidates(target, row), row) for row in of_target]
                for target, of_target in zip(self.targets, every, strict=True)
            ]

        return await self.scope.read_as(
            made_of, union(*(target.statement(how) for target in self.targets)), parameters
        )

    async def scan(self) -> list[list[list[Candidate]]]:
        """Compare each vector of the user with each query: for each target and query the
        matches.
        """
        if not self.targets:
            return []
        return [[matches for matches, _ in of_target] for of_target in await self.rows("exact")]

    def _candidates(self, target: VectorTarget, row: Row) -> list[Candidate]:
        labels, kept = [target.label] if target.kind == "nodes" else (), target.kept or EVERY
        found = (
            (record, match)
            for match in row["matches"]
            if (record := read_record(match, self.scope.ontology, labels, kept=kept)) is not None
        )
        if target.kind == "statements":
            return [statement_candidate(record, match) for record, match in found]
        return [
            Candidate(key_of(record), match["similarity"], record, match["similarity"])
            for record, match in found
        ]


Answer = tuple[list[Candidate], bool]
"""Matches of a query in a target, and whether a wider search could find no more."""


class VectorIndex(ABC):
    """Fetches more matches than are wanted, and more again if that was too few.

    If that is still not enough, or the index fails, the vectors are compared one by one.

    Attributes:
        plan: name of the way to search.
        exact_scan_limit: number of vectors up to which an exact scan is faster.
    """

    plan: SearchPlan
    exact_scan_limit: int

    def __init__(self, *, oversampling: int) -> None:
        self._oversampling = oversampling

    async def search(self, request: VectorRequest) -> list[list[list[Candidate]]]:
        """Find the matches of each query in each target."""
        if not request.targets:
            return []
        found: dict[tuple[int, int], list[Candidate]] = {}
        missing = list(range(len(request.queries)))
        fetch = await self.first_fetch(request)
        while missing and fetch <= MAX_LIMIT:
            part = replace(request, queries=[request.queries[i] for i in missing])
            try:
                answers = await self.fetch(part, fetch)
            except StatementTimeoutError:
                raise
            except StoreError:
                # Neo4j 2026.08.1 fails ("Index … out of bounds") if fewer match than are fetched
                # and an entry was deleted from a segment of the index.
                break
            incomplete: set[int] = set()
            for target, of_target in enumerate(answers):
                for query, (matches, is_complete) in zip(missing, of_target, strict=True):
                    found[target, query] = matches
                    incomplete |= set() if is_complete else {query}
            missing = sorted(incomplete)
            fetch *= WIDER
        if missing:
            rest = replace(request, queries=[request.queries[i] for i in missing])
            for target, scanned in enumerate(await rest.scan()):
                found |= {(target, i): own for i, own in zip(missing, scanned, strict=True)}
        return [
            [found[target, query] for query in range(len(request.queries))]
            for target in range(len(request.targets))
        ]

    async def first_fetch(self, request: VectorRequest) -> int:
        """Number of matches that the first search requests."""
        return max(request.limit * self._oversampling, MIN_CANDIDATES)

    @abstractmethod
    async def fetch(self, request: VectorRequest, fetch: int) -> list[list[Answer]]:
        """Search once: the answer of each query in each target."""


class FilteredIndex(VectorIndex):
    """Cypher 25's SEARCH, which filters by user and free type inside the index."""

    plan: SearchPlan = "index"
    exact_scan_limit = 100

    def __init__(self, *, oversampling: int) -> None:
        super().__init__(oversampling=oversampling)
        self._scores: dict[str, tuple[float, IndexScores]] = {}

    async def first_fetch(self, request: VectorRequest) -> int:
        """Number of matches that the first search requests: more in a large index, fewer if it
        compares more itself.
        """
        candidates = await super().first_fetch(request)
        if any(target.is_filtered_later for target in request.targets):
            candidates *= LATER_FILTERS
        most = 0
        for scores in await self._scores_of(request):
            fetch = max(request.limit, math.ceil(candidates / scores.expansion))
            most = max(most, fetch, min(math.ceil(fetch * scores.widening), MAX_LIMIT))
        return most

    async def fetch(self, request: VectorRequest, fetch: int) -> list[list[Answer]]:
        """Search once, all queries and targets in one statement."""
        estimated = any(scores.estimated for scores in await self._scores_of(request))
        found = await request.rows("index", fetch=fetch, estimated=estimated)
        return [
            [
                (matches, self._is_complete(request, target, query, matches, row, fetch))
                for query, (matches, row) in zip(request.queries, of_target, strict=True)
            ]
            for target, of_target in zip(request.targets, found, strict=True)
        ]

    @staticmethod
    def _is_complete(  # noqa: PLR0917
        request: VectorRequest,
        target: VectorTarget,
        query: EmbeddedQuery,
        matches: Sequence[Candidate],
        row: Row,
        fetch: int,
    ) -> bool:
        # One record may have all the statements that were fetched, of which only a few are
        # returned.
        is_enough = target.kind == "statements" and not target.is_filtered_later and bool(matches)
        return (
            is_enough
            or len(matches) >= request.limit
            or row["hits"] < fetch
            or row["least"] < query.threshold
        )

    async def _scores_of(self, request: VectorRequest) -> list[IndexScores]:
        """The configuration and size of the index of each target, read in two statements if they
        are not known.
        """
        now = time.monotonic()
        unknown = {
            one.indexes[0]: one
            for one in request.targets
            if self._scores.get(one.indexes[0], (0.0,))[0] <= now
        }
        if unknown:
            scope, names = request.scope, list(unknown)
            totals = union(*(one.statement("total") for one in unknown.values()))
            async with task_group() as group:
                reading = group.create_task(
                    scope.read(statement("show_index_config"), {"indexes": names})
                )
                counting = group.create_task(scope.read(totals, {}))
            configs = {row["name"]: row["config"] for row in reading.result()}
            for name, total in zip(names, counting.result(), strict=True):
                scores = IndexScores.of(configs.get(name, {}), total["found"])
                self._scores[name] = (now + CACHE_LIFETIME, scores)
        return [self._scores[target.indexes[0]][1] for target in request.targets]


class UnfilteredIndex(VectorIndex):
    """The query procedures of 5.26, which return matches of all users and of all types; statements
    filter them.
    """

    plan: SearchPlan = "procedure"
    exact_scan_limit = 2_000

    async def fetch(self, request: VectorRequest, fetch: int) -> list[list[Answer]]:
        """Search once, with one statement for each target, query and index."""
        async with task_group() as group:
            tasks = [
                [
                    group.create_task(self._query(request, target, one, fetch))
                    for one in request.queries
                ]
                for target in request.targets
            ]
        return [[task.result() for task in of_target] for of_target in tasks]

    async def _query(
        self, request: VectorRequest, target: VectorTarget, query: EmbeddedQuery, fetch: int
    ) -> Answer:
        """Matches of a query in all indexes of a target.

        Fewer results than requested do not mean that an index has no more: the procedure drops
        records that another transaction deletes meanwhile, and a graph of vectors may have parts
        that its search does not reach.
        """
        part = replace(request, targets=[target], queries=[query])
        async with task_group() as group:
            tasks = [
                group.create_task(part.rows("procedure", fetch=fetch, index=index))
                for index in target.indexes
            ]
        parts = [answer for task in tasks for of_target in task.result() for answer in of_target]
        every = (match for matches, _ in parts for match in matches)
        kept = sorted(every, key=lambda match: -match.score)[: request.limit]
        reach = kept[-1].score if len(kept) == request.limit else query.threshold
        return kept, all(row["least"] is None or row["least"] < reach for _, row in parts)


class VectorSearch:
    """Finds nodes, relationships and statements near vectors; StoreError is raised if the database
    fails.
    """

    def __init__(
        self,
        ontology: Ontology,
        features: ServerFeatures,
        *,
        exact_scan_limit: int | None,
        oversampling: int,
    ) -> None:
        supported = FilteredIndex if features.filtered_vector_indexes else UnfilteredIndex
        self._index = supported(oversampling=oversampling)
        self._exact_scan_limit = (
            self._index.exact_scan_limit if exact_scan_limit is None else exact_scan_limit
        )
        self._ontology = ontology
        self._nodes = {label: node_target(label) for label in ontology.labels}
        self._statements = lru_cache(maxsize=100)(
            lambda neo4j_types: statement_target(ontology, neo4j_types)
        )
        self._relationships = lru_cache(maxsize=100)(
            lambda neo4j_types, fields: relationship_target(ontology, features, neo4j_types, fields)
        )
        self._counts: dict[tuple[object, ...], tuple[float, Count]] = {}

    async def nodes(
        self,
        scope: SearchScope,
        queries: Sequence[EmbeddedQuery],
        *,
        labels: Sequence[str],
        limit: int,
    ) -> list[Ranking]:
        """Find the nodes near each of several vectors; each node once, best first.

        Args:
            scope: whose nodes.
            queries: vectors to search for.
            labels: labels to search, at least one.
            limit: maximum number of nodes of each label and query.
        """
        targets = [self._nodes[label] for label in labels]
        found = await self._search(scope, targets, queries, limit)
        return [self._merged(of_query) for of_query in zip(*found, strict=True)]

    async def relationships(
        self,
        scope: SearchScope,
        queries: Sequence[EmbeddedQuery],
        *,
        kept: RelationshipFilter,
        limit: int,
        fields: Fragment = ALL_FIELDS,
    ) -> list[Ranking]:
        """Find the relationships near each of several vectors in one statement, best first.

        Args:
            scope: whose relationships.
            queries: vectors to search for.
            kept: which relationships to keep.
            limit: maximum number of relationships of each query.
            fields: what is read of each relationship.
        """
        target = self.target(kept, fields)
        [found] = await self._search(scope, [target], queries, limit)
        [count] = await self._counted(scope, [target])
        wider = limit
        # Those that were not valid then may have taken the place of others.
        while (
            kept.is_of_other_time
            and wider < count.found
            and min(len(one.candidates) for one in found) < limit
        ):
            wider *= WIDER
            [found] = await self._search(scope, [target], queries, wider)
        return [replace(one, candidates=one.candidates[:limit]) for one in found]

    async def statements(
        self,
        scope: SearchScope,
        queries: Sequence[EmbeddedQuery],
        *,
        kept: RelationshipFilter,
        limit: int,
    ) -> list[Ranking]:
        """Find the statements near each of several vectors, in one statement: their records, best
        first.

        Args:
            scope: whose statements.
            queries: vectors to search for.
            kept: of which relationships; those of nodes are found too.
            limit: maximum number of records of each query.
        """
        target = replace(self._statements(kept.neo4j_types), kept=kept)
        [found] = await self._search(scope, [target], queries, limit)
        return [replace(one, span=_span(one.candidates)) for one in found]

    async def prepare(
        self, scope: SearchScope, kept: RelationshipFilter, labels: Sequence[str]
    ) -> Count:
        """Count the records and statements that a search compares, in one statement, for those that
        follow.

        Returns:
            The number of the user's relationships, and of the records that are not in the index of
            statements.
        """
        counts = await self._counted(
            scope,
            [
                self.target(kept, RANKING_FIELDS),
                self._statements(kept.neo4j_types),
                *(self._nodes[label] for label in labels),
            ],
        )
        return Count(counts[0].found, sum(count.unindexed for count in counts))

    def target(self, kept: RelationshipFilter, fields: Fragment) -> VectorTarget:
        """The relationships that a filter keeps, and what is read of each."""
        return replace(self._relationships(kept.neo4j_types, fields), kept=kept)

    async def _search(
        self,
        scope: SearchScope,
        targets: Sequence[VectorTarget],
        queries: Sequence[EmbeddedQuery],
        limit: int,
    ) -> list[list[Ranking]]:
        """For each target a ranking for each query: `limit` matches, or all if there are fewer.

        What few vectors a target has are compared; the targets with more are searched by their
        indexes at the same time, with one statement for all of either kind.
        """
        if not queries:
            return [[] for _ in targets]
        counts = await self._counted(scope, targets)
        is_small = [count.found <= self._exact_scan_limit for count in counts]
        small, large = (
            [one for one, own in zip(targets, is_small, strict=True) if own is wanted]
            for wanted in (True, False)
        )
        async with task_group() as group:
            scanning = group.create_task(VectorRequest(scope, small, queries, limit).scan())
            indexed = group.create_task(
                self._index.search(VectorRequest(scope, large, queries, limit))
            )
        of_small, of_large = iter(scanning.result()), iter(indexed.result())
        return [
            [Ranking(one, "exact") for one in next(of_small)]
            if own
            else [Ranking(one, self._index.plan) for one in next(of_large)]
            for own in is_small
        ]

    async def _counted(self, scope: SearchScope, targets: Sequence[VectorTarget]) -> list[Count]:
        """Count what the user has in each target; counting stops at `COUNTED`, or behind the exact
        scan.
        """
        now = time.monotonic()
        keys = [(target.kind, target.label, target.types, scope.user_id) for target in targets]
        unknown = {
            key: target
            for key, target in zip(keys, targets, strict=True)
            if self._counts.get(key, (0.0,))[0] <= now
        }
        if unknown:
            rows = await scope.read(
                union(*(target.statement("count") for target in unknown.values())),
                {"scan_limit": max(COUNTED, self._exact_scan_limit)},
            )
            found = {row["label"]: Count(row["found"], row["unindexed"]) for row in rows}
            if len(self._counts) > MAX_LIMIT:
                self._counts.clear()
            for key, target in unknown.items():
                self._counts[key] = (now + CACHE_LIFETIME, found[target.label])
        return [self._counts[key][1] for key in keys]

    def _merged(self, rankings: Sequence[Ranking]) -> Ranking:
        def place(candidate: Candidate) -> tuple[float, int, str]:
            label = candidate.record.label if isinstance(candidate.record, NodeRecord) else ""
            return (-candidate.score, self._ontology.label_order[label], candidate.key)

        every = sorted((one for ranking in rankings for one in ranking.candidates), key=place)
        plans = [ranking.plan for ranking in rankings]
        plan = next((plan for plan in plans if plan != "exact"), plans[0])
        return Ranking(list(first_of_each(every).values()), plan)


@lru_cache(maxsize=100)
def union(*statements: Statement) -> Statement:
    """One statement with the rows of several, in this order."""
    return Statement("\nUNION ALL\n".join(statements), statements[0].name)


def _span(candidates: Sequence[Candidate]) -> tuple[float, float] | None:
    """The best and, of the first 50 statements, the least similarity; None of a few."""
    similarities = sorted(
        (one or 0.0 for candidate in candidates for one in candidate.statements.values()),
        reverse=True,
    )
    if len(similarities) < FEWEST_ASSESSED:
        return None
    return similarities[0], similarities[:LAST_ASSESSED][-1]
