"""Vector search as a retriever: candidates for the vectors of queries, relationships expanded by hops."""

import time
from collections.abc import Sequence
from dataclasses import replace

from kgagent.concurrency import task_group
from kgagent.errors import InputError
from kgagent.graph.features import ServerFeatures
from kgagent.graph.records import NodeRecord
from kgagent.graph.statements import Fragment
from kgagent.models.search import MAX_HOPS
from kgagent.ontology import Ontology
from kgagent.retrieval.anchors import owner_matches
from kgagent.retrieval.beam import START_POOL, BeamSearch
from kgagent.retrieval.candidates import Candidate, Ranking
from kgagent.retrieval.mentions import is_first_person
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.type_means import TypeMeans
from kgagent.retrieval.vector_search import VectorQuery, VectorSearch
from kgagent.retrieval.vector_targets import ALL_FIELDS, VectorTarget, node_target, relationship_target

NODE_SPAN, RELATIONSHIP_SPAN = 20, 50
"""Rank of the match that the best one is compared with, to assess how far it stands out."""

EXPANSION_SHARE, EXPANDED_SLACK = 0.8, 0.1
"""Share of its time in which a search may expand; how far below the threshold an expanded relationship may be."""


class VectorRetrievers:
    """Finds nodes and relationships near vectors; StoreError is raised if the database fails."""

    def __init__(self, vectors: VectorSearch, ontology: Ontology, features: ServerFeatures) -> None:
        self._vectors = vectors
        self._ontology = ontology
        self._features = features
        self._nodes = {label: node_target(ontology, label) for label in ontology.labels}
        self._relationships: dict[tuple[tuple[str, ...] | None, Fragment], VectorTarget] = {}
        self.type_means = TypeMeans()

    async def nodes(
        self, scope: SearchScope, queries: Sequence[VectorQuery], *, labels: Sequence[str], limit: int
    ) -> list[Ranking]:
        """Find the nodes near each of several vectors, all labels concurrently; each node once, best first.

        Args:
            scope: whose nodes.
            queries: vectors to search for.
            labels: labels to search, at least one.
            limit: maximum number of nodes of each label and query.
        """
        targets = [self._nodes[label] for label in labels]
        by_label = await self._vectors.search_each(scope, targets, queries, limit)
        return [self._merged([rankings[position] for rankings in by_label]) for position in range(len(queries))]

    async def relationships(
        self,
        scope: SearchScope,
        queries: Sequence[VectorQuery],
        *,
        types: RelationshipFilter,
        limit: int,
        expand_hops: int | None = 0,
        timeout: float | None = None,
        fields: Fragment = ALL_FIELDS,
    ) -> list[Ranking]:
        """Find the relationships near each of several vectors in one statement, and expand them.

        Expansion is part of this retriever, since its results are fused by their rank among the direct matches.

        Args:
            scope: whose relationships.
            queries: vectors to search for; the names that their texts mention are where expansion starts.
            types: which relationships to keep.
            limit: maximum number of relationships of each query.
            expand_hops: hops to expand, 0 to 5, ignoring the threshold; None expands as far as the query needs, up to 3
                hops, to relationships at most `EXPANDED_SLACK` below the threshold.
            timeout: seconds; expansion stops early enough to return what was found until then.
            fields: what is read of each relationship.

        Raises:
            InputError: `expand_hops` is out of range.
            StoreError: the database failed.
        """
        longest = scope.timeout if timeout is None else EXPANSION_SHARE * timeout
        deadline = time.monotonic() + longest
        if expand_hops is not None and not 0 <= expand_hops <= MAX_HOPS:
            raise InputError(f"expand_hops must be 0 to {MAX_HOPS}, got {expand_hops}")
        if types.matches_nothing:
            return [Ranking(plan="none") for _ in queries]
        target = self._relationship_target(types, fields)
        pool = limit if expand_hops == 0 else max(limit, START_POOL)
        async with task_group() as group:
            search = group.create_task(self._vectors.search(scope, target, queries, pool))
            spoken = [at for at, query in enumerate(queries) if expand_hops != 0 and is_first_person(query.text)]
            owners = {at: group.create_task(owner_matches(scope, target, types, queries[at])) for at in spoken}
        rankings = [replace(one, span=_span(one.candidates, RELATIONSHIP_SPAN)) for one in search.result()]
        if expand_hops == 0:
            return rankings
        thresholds = [query.threshold - EXPANDED_SLACK if expand_hops is None else -1.0 for query in queries]
        beams = [
            BeamSearch(scope, target, types, query, self.type_means, expand_hops, limit, threshold, deadline)
            for query, threshold in zip(queries, thresholds, strict=True)
        ]
        async with task_group() as group:
            tasks = [
                group.create_task(beam.expand(ranking.candidates, *(owners[at].result() if at in owners else ())))
                for at, (beam, ranking) in enumerate(zip(beams, rankings, strict=True))
            ]
        cut = longest if time.monotonic() >= deadline else None
        return [
            replace(one, candidates=task.result(), cut_after=cut) for task, one in zip(tasks, rankings, strict=True)
        ]

    def _relationship_target(self, types: RelationshipFilter, fields: Fragment) -> VectorTarget:
        key = (types.neo4j_types, fields)
        if key not in self._relationships:
            self._relationships[key] = relationship_target(self._ontology, self._features, types.neo4j_types, fields)
        return replace(self._relationships[key], filters=types.parameters)

    def _merged(self, rankings: Sequence[Ranking]) -> Ranking:
        once: dict[str, Candidate] = {}
        for candidate in sorted((one for ranking in rankings for one in ranking.candidates), key=self._best_first):
            once.setdefault(candidate.key, candidate)
        plans = [ranking.plan for ranking in rankings]
        plan = next((plan for plan in plans if plan != "exact"), plans[0])
        return Ranking(list(once.values()), plan, _span(list(once.values()), NODE_SPAN))

    def _best_first(self, candidate: Candidate) -> tuple[float, int, str]:
        label = candidate.record.label if isinstance(candidate.record, NodeRecord) else ""
        return (-candidate.score, self._ontology.label_order[label], candidate.key)


def _span(candidates: Sequence[Candidate], rank: int) -> tuple[float, float] | None:
    return (candidates[0].score, candidates[:rank][-1].score) if len(candidates) >= NODE_SPAN else None
