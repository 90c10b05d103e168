"""The searches of other toolkits, on the same triples in their own schemas."""

import asyncio
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

from _common import Server
from _made_graph import batches
from _peers import graphiti_driver, make_graphiti_indexes
from _questions import Pair, Triple, by_pair, fact, relation_words
from neo4j import GraphDatabase

from kgagent.embedding.base import Embedder

GROUP = "benchmark"
Found = tuple[Sequence[Pair] | None, Sequence[str] | None]
Search = Callable[[str, list[float], int], Awaitable[Found]]
ReadText = Callable[[str, list[float]], Awaitable[str]]


class Peer(ABC):
    """A toolkit.

    Attributes:
        searches: its searches by name; each takes the question, its embedding and a limit.
        texts: what a model is given to read, by the name of the search and its format, with the toolkit's own limit.
    """

    searches: Mapping[str, Search]
    texts: Mapping[tuple[str, str], ReadText]

    @abstractmethod
    async def load(self, triples: Sequence[Triple], embedder: Embedder) -> None:
        """Write the triples with their embeddings."""

    @abstractmethod
    async def close(self) -> None:
        """Close its connections."""


class Graphiti(Peer):
    """graphiti-core: vector and full-text search with reciprocal rank fusion; no LLM, no cross-encoder."""

    def __init__(self, where: Server) -> None:
        self._driver = graphiti_driver(where)
        from graphiti_core.graphiti_types import GraphitiClients
        from graphiti_core.tracer import NoOpTracer

        # A search by reciprocal rank that is given its vector needs none of the models.
        self._clients = GraphitiClients.model_construct(
            driver=self._driver, llm_client=None, embedder=None, cross_encoder=None, tracer=NoOpTracer()
        )
        self.searches = {"graphiti, hybrid": self._search}
        self.texts = {
            ("graphiti, facts", "lines"): self._facts,
            ("graphiti, facts and entities", "its context string"): self._context,
        }
        self._names: dict[str, str] = {}

    async def load(self, triples: Sequence[Triple], embedder: Embedder) -> None:
        """Write nodes and edges with its bulk function."""
        from graphiti_core.edges import EntityEdge
        from graphiti_core.nodes import EntityNode
        from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

        await make_graphiti_indexes(self._driver)
        now = datetime.now(UTC)
        names = {name.lower(): name for triple in triples for name in (triple[0], triple[2])}
        keys = {key: str(uuid.uuid4()) for key in names}
        self._names = {identity: key for key, identity in keys.items()}
        common = {"group_id": GROUP, "created_at": now}
        for part in batches(list(names)):
            vectors = await embedder.embed([names[key] for key in part])
            nodes = [
                EntityNode(uuid=keys[key], name=names[key], labels=[], name_embedding=list(vector), **common)
                for key, vector in zip(part, vectors, strict=True)
            ]
            await add_nodes_and_edges_bulk(self._driver, [], [], nodes, [], self._clients.embedder)
        for same in batches(by_pair(triples)):
            vectors = await embedder.embed([fact(one) for one in same])
            edges = [
                EntityEdge(
                    source_node_uuid=keys[one[0][0].lower()],
                    target_node_uuid=keys[one[0][2].lower()],
                    name=relation_words(one),
                    fact=fact(one),
                    fact_embedding=list(vector),
                    episodes=[],
                    **common,
                )
                for one, vector in zip(same, vectors, strict=True)
            ]
            await add_nodes_and_edges_bulk(self._driver, [], [], [], edges, self._clients.embedder)

    async def _search(self, text: str, vector: list[float], wanted: int) -> Found:
        found = await self._results(text, vector, wanted)
        pairs = [frozenset((self._names[e.source_node_uuid], self._names[e.target_node_uuid])) for e in found.edges]
        return pairs, [self._names[node.uuid] for node in found.nodes]

    async def _facts(self, text: str, vector: list[float]) -> str:
        """The fact of each edge in a line, as its quickstart prints them."""
        return "\n".join(edge.fact for edge in (await self._results(text, vector)).edges)

    async def _context(self, text: str, vector: list[float]) -> str:
        from graphiti_core.search.search_helpers import search_results_to_context_string

        return str(search_results_to_context_string(await self._results(text, vector)))

    async def _results(self, text: str, vector: list[float], wanted: int | None = None) -> Any:  # noqa: ANN401
        from graphiti_core.search.search import search
        from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF as RECIPE
        from graphiti_core.search.search_filters import SearchFilters

        config = RECIPE if wanted is None else RECIPE.model_copy(update={"limit": wanted})
        return await search(self._clients, text, [GROUP], config, SearchFilters(), query_vector=vector)

    async def close(self) -> None:
        """Close its connection."""
        await self._driver.close()


class GraphRag(Peer):
    """neo4j-graphrag: vector and hybrid search of nodes, and their neighborhood by a custom query."""

    def __init__(self, where: Server) -> None:
        self._driver = GraphDatabase.driver(where.uri, auth=(where.username, where.password or ""))
        self.searches = {
            "neo4j-graphrag, VectorRetriever": self._vector,
            "neo4j-graphrag, HybridRetriever": self._hybrid,
            "neo4j-graphrag, HybridCypherRetriever": self._around,
        }
        self.texts = {
            ("neo4j-graphrag, HybridRetriever", "records"): self._node_records,
            ("neo4j-graphrag, HybridCypherRetriever", "records"): self._fact_records,
        }

    async def load(self, triples: Sequence[Triple], embedder: Embedder) -> None:
        """Write nodes with their embeddings, relationships with their texts, and the indexes that it needs."""
        from neo4j_graphrag.indexes import create_fulltext_index, create_vector_index

        create_vector_index(self._driver, "names", "Thing", "embedding", embedder.dimensions, "cosine")
        create_fulltext_index(self._driver, "words", "Thing", ["name"])
        names = {name.lower(): name for triple in triples for name in (triple[0], triple[2])}
        self._run("CREATE CONSTRAINT IF NOT EXISTS FOR (n:Thing) REQUIRE n.key IS UNIQUE")
        for part in batches(list(names)):
            vectors = await embedder.embed([names[key] for key in part])
            self._run(
                "UNWIND $rows AS row CREATE (n:Thing {key: row.key, name: row.name}) "
                "WITH n, row CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)",
                rows=[
                    {"key": key, "name": names[key], "vector": list(vector)}
                    for key, vector in zip(part, vectors, strict=True)
                ],
            )
        for same in batches(by_pair(triples)):
            self._run(
                "UNWIND $rows AS row MATCH (a:Thing {key: row.a}) MATCH (b:Thing {key: row.b}) "
                "CREATE (a)-[:RELATED {fact: row.fact}]->(b)",
                rows=[{"a": one[0][0].lower(), "b": one[0][2].lower(), "fact": fact(one)} for one in same],
            )
        self._run("CALL db.awaitIndexes(300)")

    async def _vector(self, _text: str, vector: list[float], wanted: int) -> Found:
        from neo4j_graphrag.retrievers import VectorRetriever

        retriever = VectorRetriever(self._driver, "names", return_properties=["key"])
        found = await asyncio.to_thread(retriever.get_search_results, query_vector=vector, top_k=wanted)
        return None, [record["node"]["key"] for record in found.records]

    async def _hybrid(self, text: str, vector: list[float], wanted: int) -> Found:
        from neo4j_graphrag.retrievers import HybridRetriever

        retriever = HybridRetriever(self._driver, "names", "words", return_properties=["key"])
        found = await asyncio.to_thread(
            retriever.get_search_results, query_text=_plain(text), query_vector=vector, top_k=wanted
        )
        return None, [record["node"]["key"] for record in found.records]

    async def _around(self, text: str, vector: list[float], wanted: int) -> Found:
        """The relationships of the nodes that it finds, best node first."""
        from neo4j_graphrag.retrievers import HybridCypherRetriever

        retriever = HybridCypherRetriever(
            self._driver,
            "names",
            "words",
            "MATCH (node)-[r:RELATED]-(other) RETURN node.key AS key, other.key AS other, score ORDER BY score DESC",
        )
        found = await asyncio.to_thread(
            retriever.get_search_results, query_text=_plain(text), query_vector=vector, top_k=wanted
        )
        rows = [(record["key"], record["other"]) for record in found.records]
        return list(dict.fromkeys(map(frozenset, rows))), list(dict.fromkeys(key for row in rows for key in row))

    async def _node_records(self, text: str, vector: list[float]) -> str:
        from neo4j_graphrag.retrievers import HybridRetriever

        return await _context_of(
            HybridRetriever(self._driver, "names", "words", return_properties=["name"]), text, vector
        )

    async def _fact_records(self, text: str, vector: list[float]) -> str:
        from neo4j_graphrag.retrievers import HybridCypherRetriever

        facts = "MATCH (node)-[r:RELATED]-() WITH r, max(score) AS score RETURN r.fact AS fact ORDER BY score DESC"
        return await _context_of(HybridCypherRetriever(self._driver, "names", "words", facts), text, vector)

    async def close(self) -> None:
        """Close its connection."""
        self._driver.close()

    def _run(self, text: str, **parameters: Any) -> None:  # noqa: ANN401
        self._driver.execute_query(text, parameters)


PEERS: Mapping[str, type[Peer]] = {"graphiti_core": Graphiti, "neo4j_graphrag": GraphRag}
"""Toolkits by the name of their package."""


def installed_peers() -> Iterator[Callable[[Server], Peer]]:
    """The installed toolkits; prints which others are skipped."""
    for package, peer in PEERS.items():
        if find_spec(package) is None:
            print(f"{package} is not installed and is skipped")
        else:
            yield peer


async def _context_of(retriever: Any, text: str, vector: list[float]) -> str:  # noqa: ANN401
    """The context that its GraphRAG pipeline gives to the model."""
    found = await asyncio.to_thread(retriever.search, query_text=_plain(text), query_vector=vector)
    return "\n".join(str(item.content) for item in found.items)


def _plain(text: str) -> str:
    """The words of a question; punctuation is query syntax, and a single slash is an error."""
    return " ".join(re.findall(r"\w+", text))
