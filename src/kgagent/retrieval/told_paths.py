"""What is on the paths that were found, read for an answer."""

from collections.abc import Mapping, Sequence

from kgagent.graph.records import RelationshipRecord, as_text, ontology_label
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models.paths import GraphPath, PathNode
from kgagent.retrieval.found_path import FoundPath, explained


class PathLoader:
    """Reads the nodes and relationships of paths, all in one statement."""

    def __init__(self, relationships: RelationshipRepository, *, timeout: float) -> None:
        self._relationships = relationships
        self._timeout = timeout

    async def read(
        self, user_id: str, paths: Sequence[FoundPath], shortest: Sequence[FoundPath], *, asked: bool
    ) -> list[GraphPath]:
        """Read what is on the paths; one that is not whole any more is left out.

        Args:
            user_id: whose paths.
            paths: those that are told, in their order.
            shortest: those than which none is shorter.
            asked: whether there is a query.

        Raises:
            StoreError: the database failed.
        """
        ids = list(dict.fromkeys(relationship for path in paths for relationship in path.relationships))
        rows = await self._relationships.store.read(
            statement("read_path_relationships", **self._relationships.names),
            {"user_id": user_id, "relationships": ids},
            timeout=self._timeout,
        )
        found = {row["element_id"]: row for row in rows}
        fewest = min((len(path.relationships) for path in shortest), default=0)
        return [
            self._shown(path, found, asked=asked, is_shortest=len(path.relationships) == fewest)
            for path in paths
            if _is_whole(path, found)
        ]

    def _shown(self, path: FoundPath, found: Mapping[str, Row], *, asked: bool, is_shortest: bool) -> GraphPath:
        ontology = self._relationships.ontology
        rows = [found[relationship] for relationship in path.relationships]
        nodes = {
            node["element_id"]: PathNode(
                entity_key=node["entity_key"],
                label=ontology_label(node["labels"], ontology),
                name=as_text(node["name"]),
            )
            for row in rows
            for node in row["nodes"]
        }
        return GraphPath(
            nodes=tuple(nodes[node] for node in path.nodes),
            relationships=tuple(RelationshipRecord.read(row["relationship"]).to_model(ontology) for row in rows),
            weights=path.weights,
            score=path.score,
            is_shortest=is_shortest,
            explanation=explained(path.weights, asked=asked),
        )


def _is_whole(path: FoundPath, found: Mapping[str, Row]) -> bool:
    return all(
        relationship in found and {node["element_id"] for node in found[relationship]["nodes"]} == {first, second}
        for relationship, first, second in zip(path.relationships, path.nodes, path.nodes[1:], strict=False)
    )
