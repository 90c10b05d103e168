"""The nodes that a query's targets mean."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgagent.concurrency import task_group
from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.models.matched_path import MatchedNode
from kgagent.models.pattern_query import ResolutionTarget
from kgagent.ontology import Ontology
from kgagent.patterns.path_reader import PathReader
from kgagent.patterns.plans import EntryPoint
from kgagent.retrieval import RetrievalService

NAMESAKES = 20
"""Nodes of one name that a target may mean."""

NEAREST = 3
"""Nodes that a description may mean where none has it as its name."""


@dataclass(frozen=True)
class ResolvedTarget:
    """What one target means.

    Attributes:
        points: where paths start or end.
        nodes: the same nodes, to be shown.
    """

    points: tuple[EntryPoint, ...] = ()
    nodes: tuple[MatchedNode, ...] = ()


class EntryPoints:
    """Finds nodes for targets: by key or name among all labels of the user, else by hybrid search."""

    def __init__(self, store: Store, ontology: Ontology, retrieval: RetrievalService, *, timeout: float) -> None:
        self._store = store
        self._ontology = ontology
        self._retrieval = retrieval
        self._reader = PathReader(ontology)
        self._timeout = timeout

    async def named(
        self, targets: Sequence[ResolutionTarget], labels: Iterable[str], user_id: str
    ) -> list[ResolvedTarget]:
        """Find the nodes whose key or whole name each target gives, letter case aside.

        Args:
            targets: what is meant.
            labels: those that the user's nodes may have.
            user_id: whose nodes.

        Raises:
            StoreError: the database failed.
        """
        wanted = {label for target in targets for label in ([target.label] if target.label else labels)}
        names = [target.description.strip() for target in targets if target.entity_key is None]
        parameters = {
            "user_id": user_id,
            "texts": [*names, *(target.entity_key for target in targets if target.entity_key is not None)],
            "lower_names": [name.lower() for name in names],
            "namesakes": NAMESAKES,
        }
        async with task_group() as group:
            tasks = [
                group.create_task(
                    self._store.read(
                        statement("match_entry_points", label=Identifier(label)), parameters, timeout=self._timeout
                    )
                )
                for label in sorted(wanted)
            ]
        rows = {row["node"]["id"]: row["node"] for task in tasks for row in task.result()}
        return [self._resolved([row for row in rows.values() if _means(target, row)]) for target in targets]

    async def described(self, target: ResolutionTarget, user_id: str, vector: Sequence[float] | None) -> ResolvedTarget:
        """Find the nodes that a description is nearest to.

        Args:
            target: what is meant.
            user_id: whose nodes.
            vector: embedding of the description.

        Raises:
            SearchError: nothing could be searched.
        """
        if vector is None or (target.label is not None and target.label not in self._ontology.labels):
            return ResolvedTarget()
        request = HybridSearchRequest(
            query=target.description,
            limit=NEAREST,
            search_relationships=False,
            labels=None if target.label is None else (target.label,),
        )
        found = await self._retrieval.hybrid_search(request, user_id=user_id, vector=vector)
        keys = [item.entity_key for item in found.objects]
        if not keys:
            return ResolvedTarget()
        named = [ResolutionTarget(entity_key=key) for key in keys]
        parts = await self.named(named, {item.label for item in found.objects}, user_id)
        return ResolvedTarget(
            tuple(point for part in parts for point in part.points),
            tuple(node for part in parts for node in part.nodes),
        )

    def _resolved(self, rows: Sequence[Row]) -> ResolvedTarget:
        kept = rows[:NAMESAKES]
        return ResolvedTarget(
            tuple(EntryPoint(row["id"], tuple(row["labels"])) for row in kept),
            tuple(self._reader.node(row) for row in kept),
        )


def _means(target: ResolutionTarget, row: Mapping[str, object]) -> bool:
    if target.label is not None and target.label not in (row["labels"] if isinstance(row["labels"], list) else ()):
        return False
    if target.entity_key is not None:
        return row["entity_key"] == target.entity_key
    name = row["name"]
    described = target.description.strip()
    return row["entity_key"] == described or (isinstance(name, str) and name.lower() == described.lower())
