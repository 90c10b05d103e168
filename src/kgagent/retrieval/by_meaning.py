"""The searches by meaning, as records: what a caller is shown of them is made later, and only of what is told."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgagent.concurrency import task_group
from kgagent.errors import InputError
from kgagent.graph.features import ServerFeatures
from kgagent.graph.records import NodeRecord
from kgagent.graph.statements import Fragment
from kgagent.models import Matches
from kgagent.models.search import DEFAULT_HOPS, MAX_HOPS
from kgagent.ontology import Ontology
from kgagent.retrieval.beam import START_POOL, BeamScope, BeamSearch, Step
from kgagent.retrieval.nearest import NearestQuery
from kgagent.retrieval.vector_search import VectorSearch
from kgagent.retrieval.vector_targets import IN_FULL, node_target, relationship_target

SHARE_OF_TIME = 0.8
"""Share of its time in which a search goes on from its hits; the rest is for telling them."""


@dataclass(frozen=True)
class NodeHit:
    """A node that is near enough; `similarity` is plain cosine."""

    record: NodeRecord
    similarity: float


class VectorRetrievers:
    """Finds nodes and relationships near vectors; each call says whose."""

    def __init__(self, vectors: VectorSearch, beam: BeamSearch, ontology: Ontology, features: ServerFeatures) -> None:
        self._vectors = vectors
        self._beam = beam
        self._ontology = ontology
        self._features = features

    async def relationships(
        self,
        queries: Sequence[NearestQuery],
        user_id: str,
        relationship_types: Sequence[str] | None = None,
        limit: int = 20,
        *,
        expand_hops: int | None = 0,
        timeout: float | None = None,
        told: Fragment = IN_FULL,
    ) -> list[Matches[Step]]:
        """Find the relationships near each of several vectors, in one statement, and go on from them where asked to.

        Args:
            queries: what to look for; where a text is given, the names in it say where to begin to go on.
            user_id: whose relationships.
            relationship_types: free types ("mentor") to keep to; None keeps all.
            limit: relationships of each query at the most.
            expand_hops: levels to go on, 0 to 5, whatever is reached is like; None goes on for one level, to what
                reaches the query's threshold too.
            timeout: seconds in which to answer: going on ends in time for what was found until then to be told.
            told: what is read of each.

        Raises:
            InputError: `expand_hops` is out of its range.
            StoreError: the database failed.
        """
        until = None if timeout is None else time.monotonic() + SHARE_OF_TIME * timeout
        hops = DEFAULT_HOPS if expand_hops is None else expand_hops
        if not 0 <= hops <= MAX_HOPS:
            raise InputError(f"expand_hops must be 0 to {MAX_HOPS}, got {expand_hops}")
        if relationship_types is not None and not relationship_types:
            return [Matches() for _ in queries]
        target = relationship_target(self._ontology, self._features, relationship_types, told)
        pool = max(limit, START_POOL) if hops else limit
        nearest = await self._vectors.nearest(target, user_id=user_id, queries=queries, limit=pool)
        scope = BeamScope(user_id, hops=hops, limit=limit, relationship_types=relationship_types, told=told)
        async with task_group() as group:
            tasks = [
                group.create_task(
                    self._beam.expand(
                        hits,
                        query.vector,
                        replace(scope, threshold=query.threshold) if expand_hops is None else scope,
                        text=query.text,
                        until=until,
                    )
                )
                for hits, query in zip(nearest.hits, queries, strict=True)
            ]
        return [Matches(task.result(), plan=nearest.plan) for task in tasks]

    async def nodes(
        self, queries: Sequence[NearestQuery], user_id: str, labels: Sequence[str], limit: int = 20
    ) -> list[Matches[NodeHit]]:
        """Find the nodes near each of several vectors, the labels side by side; each node once, best first.

        Args:
            queries: what to look for.
            user_id: whose nodes.
            labels: labels to keep to, at least one.
            limit: nodes of each label and query at the most.

        Raises:
            StoreError: the database failed.
        """
        targets = [node_target(self._ontology, label) for label in labels]
        by_label = await self._vectors.nearest_in_each(targets, user_id=user_id, queries=queries, limit=limit)
        plan = next((part.plan for part in by_label if part.plan != "exact"), by_label[0].plan)
        found = []
        for position in range(len(queries)):
            hits = [hit for part in by_label for hit in part.hits[position]]
            nodes = [NodeHit(hit.record, hit.similarity) for hit in hits if isinstance(hit.record, NodeRecord)]
            once: dict[str, NodeHit] = {}
            for node in sorted(nodes, key=self._best_first):
                once.setdefault(node.record.entity_key, node)
            found.append(Matches(list(once.values()), plan=plan))
        return found

    def _best_first(self, hit: NodeHit) -> tuple[float, int, str]:
        return (-hit.similarity, self._ontology.label_order[hit.record.label], hit.record.entity_key)
