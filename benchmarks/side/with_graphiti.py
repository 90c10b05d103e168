"""graphiti-core: nodes and edges saved by its own classes, `add_nodes_and_edges_bulk` and
`search_`.
"""

import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from side.toolkit import (
    HOPS,
    SEARCH,
    UPDATE,
    USERS,
    Address,
    Fact,
    Found,
    Question,
    Search,
    Toolkit,
    Vectors,
    batches,
    key,
    names_of,
)

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

from graphiti_core import Graphiti as Client
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.neo4j_driver import Neo4jDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.nodes import EntityNode
from graphiti_core.search.search_config import EdgeSearchMethod, NodeSearchMethod
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF
from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk


class KnownEmbedder(EmbedderClient):  # type: ignore[misc]
    """Returns embeddings made beforehand."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    async def create(self, input_data: Any) -> list[float]:  # noqa: ANN401
        """Look one text up."""
        return self._vectors.of(input_data if isinstance(input_data, str) else input_data[0])

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        """Look several up."""
        return [self._vectors.of(text) for text in input_data_list]


class NoModel(LLMClient):  # type: ignore[misc]
    """Refuses every call: what is measured here must not need an LLM."""

    async def _generate_response(self, *_: object, **__: object) -> dict[str, Any]:
        raise RuntimeError("An LLM was called")


class NoCrossEncoder(CrossEncoderClient):  # type: ignore[misc]
    """Refuses every call."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Refuse."""
        raise RuntimeError(f"A cross-encoder was called for {query!r} and {len(passages)} passages")


class Graphiti(Toolkit):
    """graphiti-core with reciprocal rank fusion, its reranker without a model."""

    packages = ("graphiti-core", "neo4j")

    def __init__(self, where: Address, vectors: Vectors) -> None:
        super().__init__(where, vectors)
        self._names: dict[str, str] = {}
        with_bfs = COMBINED_HYBRID_SEARCH_RRF.model_copy(deep=True)
        with_bfs.edge_config.search_methods.append(EdgeSearchMethod.bfs)
        with_bfs.node_config.search_methods.append(NodeSearchMethod.bfs)
        self._with_bfs = with_bfs
        self.searches = {
            "search_ (RRF)": Search(self._search, frozenset({SEARCH, HOPS, USERS, UPDATE})),
            "search_ (RRF, breadth-first to hops)": Search(self._search_bfs, frozenset({HOPS})),
        }

    async def open(self) -> None:
        """Connect and create its indexes; its driver begins that itself if created inside a running
        loop.
        """
        driver = Neo4jDriver(self.where.uri, self.where.username, self.where.password)
        await (getattr(driver, "_init_task", None) or driver.build_indices_and_constraints())
        self._embedder = KnownEmbedder(self.vectors)
        self._client = Client(
            graph_driver=driver,
            llm_client=NoModel(LLMConfig(api_key="none", model="none")),
            embedder=self._embedder,
            cross_encoder=NoCrossEncoder(),
        )

    async def insert(self, fact: Fact) -> None:
        """Save both nodes and the edge."""
        for name in (fact.source, fact.target):
            node = self._node(fact.user, name)
            await node.generate_name_embedding(self._embedder)
            await node.save(self._client.driver)
        edge = _edge(fact)
        await edge.generate_embedding(self._embedder)
        await edge.save(self._client.driver)

    async def bulk(self, facts: Sequence[Fact]) -> None:
        """`add_nodes_and_edges_bulk`, nodes before edges; it embeds one by one."""
        nodes = [self._node(user, name) for user, name in names_of(facts)]
        for part in batches(nodes):
            await add_nodes_and_edges_bulk(
                self._client.driver, [], [], list(part), [], self._embedder
            )
        for some in batches([_edge(fact) for fact in facts]):
            await add_nodes_and_edges_bulk(
                self._client.driver, [], [], [], list(some), self._embedder
            )

    async def update(self, fact: Fact, text: str) -> None:
        """Read the edge, change its fact, embed it and save it: three calls."""
        edge = await EntityEdge.get_by_uuid(
            self._client.driver, _identity(fact.user, fact.source, fact.target)
        )
        edge.fact = text
        await edge.generate_embedding(self._embedder)
        await edge.save(self._client.driver)

    async def stored(self, fact: Fact) -> tuple[str | None, list[float] | None]:
        """The fact and its embedding."""
        row = self.rows(
            "MATCH (:Entity)-[r:RELATES_TO {uuid: $uuid}]->() RETURN r.fact AS text, "
            "r.fact_embedding AS vector",
            uuid=_identity(fact.user, fact.source, fact.target),
        )[0]
        return row["text"], row["vector"]

    async def prepare_search(self) -> None:
        """Read the names of the nodes, which its edges lack."""
        rows = self.rows("MATCH (n:Entity) RETURN n.uuid AS uuid, n.name AS name")
        self._names = {row["uuid"]: row["name"] for row in rows}

    async def _search(self, question: Question) -> Found:
        return await self._ask(question, COMBINED_HYBRID_SEARCH_RRF)

    async def _search_bfs(self, question: Question) -> Found:
        config = self._with_bfs.model_copy(deep=True)
        config.edge_config.bfs_max_depth = config.node_config.bfs_max_depth = question.hops
        return await self._ask(question, config)

    async def _ask(self, question: Question, config: Any) -> Found:  # noqa: ANN401
        found = await self._client.search_(question.text, config=config, group_ids=[question.user])
        return Found(
            [
                (self._names[edge.source_node_uuid], self._names[edge.target_node_uuid])
                for edge in found.edges
            ],
            [node.name for node in found.nodes],
            [edge.fact for edge in found.edges],
            [edge.group_id for edge in found.edges],
        )

    async def close(self) -> None:
        """Close its connection."""
        await self._client.close()
        await super().close()

    def _node(self, user: str, name: str) -> Any:  # noqa: ANN401
        return EntityNode(
            uuid=_identity(user, name), name=name, labels=[], group_id=user, created_at=_now()
        )


def _edge(fact: Fact) -> Any:  # noqa: ANN401
    return EntityEdge(
        uuid=_identity(fact.user, fact.source, fact.target),
        source_node_uuid=_identity(fact.user, fact.source),
        target_node_uuid=_identity(fact.user, fact.target),
        name=fact.relation,
        fact=fact.text,
        episodes=[],
        group_id=fact.user,
        created_at=_now(),
    )


def _now() -> datetime:
    return datetime.now(UTC)


def _identity(user: str, *names: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, key(user, "\n".join(names))))
