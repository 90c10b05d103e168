"""Walks from nodes, given or found: their surroundings, hop by hop, and the paths between two of them."""

from collections.abc import Sequence

from kgagent.errors import InputError
from kgagent.models import (
    ExploreRequest,
    ExploreResult,
    FindPathsRequest,
    FindPathsResult,
    GraphExpansion,
    GraphNode,
    TraverseRequest,
    TraverseResult,
)
from kgagent.retrieval.explore import NOTHING_ASKED, Exploration
from kgagent.retrieval.paths import find_paths
from kgagent.retrieval.scope import RelationshipFilter, check_text, observed
from kgagent.retrieval.single_searches import SingleSearches
from kgagent.retrieval.surroundings import expand_around
from kgagent.retrieval.traversal import traverse


class GraphWalks(SingleSearches):
    """Reads what surrounds nodes, and how two of them are related."""

    @observed("explore")
    async def explore(self, request: ExploreRequest, *, user_id: str) -> ExploreResult:
        """Search for several queries and names, fuse the nodes found, and return them with their surroundings.

        A search that fails or times out is skipped, with a warning in the result.

        Args:
            request: queries, names and how to search.
            user_id: owner of the graph.

        Raises:
            InputError: invalid argument.
            SearchError: every search failed.
        """
        scope = self.scope.of(user_id)
        if not request.queries and not request.text_matches:
            raise InputError(NOTHING_ASKED)
        for text in (*(query.query for query in request.queries), *request.text_matches):
            check_text(text)
        types = RelationshipFilter.of(scope.ontology, request.relationship_types, request.neo4j_types)
        exploration = Exploration(scope, request, scope.labels(request.labels), types, self._nodes, self.weights)
        return await exploration.run(self._vectors, self._embedder, self._calibration)

    @observed("expand_graph")
    async def expand_graph(
        self, entity_keys: Sequence[str], *, user_id: str, max_relationships: int = 10, max_neighbors: int = 30
    ) -> GraphExpansion:
        """Find the surroundings of nodes: the relationships among them, and their neighbors one hop away.

        Args:
            entity_keys: keys of the nodes.
            user_id: owner of the nodes.
            max_relationships: maximum number of relationships among the nodes.
            max_neighbors: maximum number of neighbors; each comes with the relationships that join it to the nodes.

        Raises:
            StoreError: the database failed.
        """
        return await expand_around(
            self.scope.of(user_id), entity_keys, max_relationships=max_relationships, max_neighbors=max_neighbors
        )

    @observed("best_connected_nodes")
    async def best_connected_nodes(self, *, user_id: str, limit: int = 20) -> list[tuple[GraphNode, int]]:
        """Find the nodes that have the most relationships, with their number; the owner of the graph comes first.

        Args:
            user_id: owner of the graph.
            limit: maximum number of nodes.

        Raises:
            StoreError: the database failed.
        """
        return await self._nodes.best_connected(user_id, limit)

    @observed("traverse")
    async def traverse(self, request: TraverseRequest, *, user_id: str) -> TraverseResult:
        """Find the nodes around a node, hop by hop.

        Args:
            request: where to start, and how far to go.
            user_id: owner of the graph.

        Raises:
            NotFoundError: the node does not exist for this user.
            InputError: a type is unknown.
            StoreError: the database failed.
        """
        return await traverse(self.scope.of(user_id), request, self._nodes)

    @observed("find_paths")
    async def find_paths(self, request: FindPathsRequest, *, user_id: str) -> FindPathsResult:
        """Find how two nodes are related: the shortest paths between them, and the most relevant ones.

        Args:
            request: the nodes, and optionally what the paths should be about.
            user_id: owner of the graph.

        Raises:
            NotFoundError: a node does not exist for this user.
            InputError: both ends are one node.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        return await find_paths(self.scope.of(user_id), request, self._nodes, self._embedder)

    async def nodes(
        self, entity_keys: Sequence[str], *, user_id: str, labels: Sequence[str] | None = None
    ) -> list[GraphNode]:
        """Read nodes by key, in the order of the keys; nodes that the user does not own are omitted.

        Args:
            entity_keys: keys of the nodes.
            user_id: owner of the nodes.
            labels: for a node with several labels, one of these is returned.
        """
        return await self._nodes.get(user_id, entity_keys, labels)
