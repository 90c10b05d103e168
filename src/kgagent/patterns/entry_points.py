"""Resolves the targets of a query to nodes: by key or name among all labels, otherwise by hybrid
search.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from kgagent.concurrency import task_group
from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import statement
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.models.pattern_query import ResolutionTarget
from kgagent.models.plain import aliases_in
from kgagent.names import normalised_name, plain_words
from kgagent.ontology import Ontology
from kgagent.patterns.path_reader import PathReader
from kgagent.patterns.plans import EntryPoint
from kgagent.patterns.reads import UserReads
from kgagent.search import RetrievalService

MAX_NAMESAKES = 20
"""Maximum number of nodes of the same name to which a target resolves."""

MAX_SIMILAR = 3
"""Maximum number of nodes to which a description resolves by similarity."""


class TargetResolver:
    """Finds the nodes of targets for one user."""

    def __init__(
        self, reads: UserReads, ontology: Ontology, retrieval: RetrievalService, reader: PathReader
    ) -> None:
        self._reads = reads
        self._ontology = ontology
        self._retrieval = retrieval
        self._reader = reader

    async def by_name(
        self, targets: Sequence[ResolutionTarget], labels: Iterable[str]
    ) -> list[list[EntryPoint]]:
        """Find the nodes that have the key or the name of each target.

        Args:
            targets: the targets.
            labels: labels that the user's nodes may have.

        Raises:
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        wanted = {
            label for target in targets for label in ([target.label] if target.label else labels)
        }
        names = [target.description.strip() for target in targets if target.entity_key is None]
        parameters = {
            "texts": [
                *names,
                *(target.entity_key for target in targets if target.entity_key is not None),
            ],
            "lower_names": [
                unicodedata.normalize(form, name).lower()
                for name in names
                for form in ("NFC", "NFD")
            ],
            "namesakes": MAX_NAMESAKES,
        }
        async with task_group() as group:
            tasks = [
                group.create_task(
                    self._reads.read(
                        statement("match_entry_points", label=Identifier(label)), parameters
                    )
                )
                for label in sorted(wanted)
            ]
        rows = {row["node"]["id"]: row["node"] for task in tasks for row in task.result()}
        return [
            [
                EntryPoint(row["id"], self._reader.node(row))
                for row in rows.values()
                if _is_target(target, row)
            ][:MAX_NAMESAKES]
            for target in targets
        ]

    async def by_similarity(
        self, target: ResolutionTarget, vector: Sequence[float] | None
    ) -> tuple[list[EntryPoint], bool]:
        """Find the nodes that have a description in a name or alias, or else those that are most
        similar to it.

        Args:
            target: the target.
            vector: embedding of its description, shape (dimensions,); None finds nothing.

        Returns:
            The nodes, and whether a name or alias of them has the description.

        Raises:
            SearchError: the search failed.
        """
        if vector is None or (
            target.label is not None and target.label not in self._ontology.labels
        ):
            return [], False
        request = HybridSearchRequest(
            query=target.description,
            limit=MAX_SIMILAR,
            search_relationships=False,
            labels=None if target.label is None else (target.label,),
        )
        result = await self._retrieval.hybrid_search(
            request, user_id=self._reads.user_id, vector=vector
        )
        names = (
            (item.entity_key, name)
            for item in result.objects
            for name in (item.name, *aliases_in(item.properties))
        )
        # "Lena" means the nodes that have this in a name or alias, not those that are similar to
        # them.
        asked = set(plain_words(target.description))
        named = {key for key, name in names if asked and asked.issubset(plain_words(name))}
        labels = {
            item.entity_key: item.label
            for item in result.objects
            if not named or item.entity_key in named
        }
        if not labels:
            return [], False
        resolved = await self.by_name(
            [ResolutionTarget(entity_key=key) for key in labels], labels.values()
        )
        return [point for points in resolved for point in points], bool(named)


def _is_target(target: ResolutionTarget, row: Mapping[str, object]) -> bool:
    labels = row["labels"] if isinstance(row["labels"], list) else ()
    if target.label is not None and target.label not in labels:
        return False
    if target.entity_key is not None:
        return row["entity_key"] == target.entity_key
    name = row["name"]
    return row["entity_key"] == target.description.strip() or (
        isinstance(name, str) and normalised_name(name) == normalised_name(target.description)
    )
