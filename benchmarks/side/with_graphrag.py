"""neo4j-graphrag: `Neo4jWriter`, and its retrievers by vector and by vector and full text."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

from neo4j_graphrag.components.kg_writer import Neo4jWriter
from neo4j_graphrag.components.types import Neo4jGraph, Neo4jNode, Neo4jRelationship
from neo4j_graphrag.embeddings import Embedder
from neo4j_graphrag.indexes import create_fulltext_index, create_vector_index
from neo4j_graphrag.retrievers import HybridCypherRetriever, HybridRetriever, VectorRetriever

from side.toolkit import (
    HOPS,
    SEARCH,
    USERS,
    WANTED,
    Address,
    Fact,
    Found,
    Question,
    Search,
    Toolkit,
    Vectors,
    key,
    names_of,
)
from side.walk import FIELDS, walk

VECTORS, WORDS = "names", "words"
RETURNED = ", ".join(("text", "score", *FIELDS))


class KnownEmbedder(Embedder):  # type: ignore[misc]
    """Returns embeddings made beforehand."""

    def __init__(self, vectors: Vectors) -> None:
        super().__init__()
        self._vectors = vectors

    def embed_query(self, text: str) -> list[float]:
        """Look a text up."""
        return self._vectors.of(text)


class GraphRag(Toolkit):
    """neo4j-graphrag; the statements that follow relationships are ours, as its documentation
    intends.
    """

    packages = ("neo4j-graphrag", "neo4j")

    def __init__(self, where: Address, vectors: Vectors) -> None:
        super().__init__(where, vectors)
        self.searches = {
            "HybridRetriever": Search(self._nodes, frozenset({SEARCH})),
            "HybridCypherRetriever, 1 hop": Search(self._hybrid, frozenset({SEARCH, HOPS})),
            "HybridCypherRetriever, hops": Search(self._hybrid_hops, frozenset({HOPS})),
            "VectorRetriever, filters": Search(self._filtered, frozenset({USERS})),
            "HybridCypherRetriever, condition in its statement": Search(
                self._condition, frozenset({USERS})
            ),
        }

    async def open(self) -> None:
        """Create its indexes."""
        warnings.simplefilter("ignore", DeprecationWarning)
        create_vector_index(
            self.driver, VECTORS, "__Entity__", "embedding", self.vectors.dimensions, "cosine"
        )
        create_fulltext_index(self.driver, WORDS, "__Entity__", ["name"])
        self.await_indexes()
        self._writer = Neo4jWriter(self.driver)

    async def insert(self, fact: Fact) -> None:
        """One run of its writer."""
        await self._write([fact])

    async def bulk(self, facts: Sequence[Fact]) -> None:
        """One run of its writer."""
        await self._write(facts)

    async def _write(self, facts: Sequence[Fact]) -> None:
        graph = Neo4jGraph(
            nodes=[
                Neo4jNode(
                    id=key(user, name),
                    label="Thing",
                    properties={"name": name, "user": user},
                    embedding_properties={"embedding": self.vectors.of(name)},
                )
                for user, name in names_of(facts)
            ],
            relationships=[
                Neo4jRelationship(
                    start_node_id=key(fact.user, fact.source),
                    end_node_id=key(fact.user, fact.target),
                    type="RELATED_TO",
                    properties={"relation": fact.relation, "text": fact.text},
                    embedding_properties={"embedding": self.vectors.of(fact.text)},
                )
                for fact in facts
            ],
        )
        done = await self._writer.run(graph)
        if done.status != "SUCCESS":
            raise RuntimeError(str(done.metadata))

    async def prepare_search(self) -> None:
        """Make its retrievers, which read the indexes' definitions."""
        embedder = KnownEmbedder(self.vectors)
        both = (self.driver, VECTORS, WORDS)
        self._by_words = HybridRetriever(
            *both, return_properties=["name", "user"], embedder=embedder
        )
        self._by_hops = {
            hops: HybridCypherRetriever(*both, walk(hops, RETURNED), embedder=embedder)
            for hops in (1, 2, 3)
        }
        own = f"WITH node, score WHERE node.user = $user {walk(1, RETURNED)}"
        self._own = HybridCypherRetriever(*both, own, embedder=embedder)
        self._by_vector = VectorRetriever(
            self.driver, VECTORS, return_properties=["name", "user"], embedder=embedder
        )

    async def _nodes(self, question: Question) -> Found:
        return _nodes(
            self._by_words.get_search_results(
                query_text=_plain(question.text),
                query_vector=self.vectors.of(question.text),
                top_k=WANTED,
            )
        )

    async def _hybrid(self, question: Question) -> Found:
        return self._around(question, 1)

    async def _hybrid_hops(self, question: Question) -> Found:
        return self._around(question, question.hops)

    def _around(self, question: Question, hops: int) -> Found:
        found = self._by_hops[hops].get_search_results(
            query_text=_plain(question.text),
            query_vector=self.vectors.of(question.text),
            top_k=WANTED,
        )
        return _found(found.records)

    async def _filtered(self, question: Question) -> Found:
        return _nodes(
            self._by_vector.get_search_results(
                query_vector=self.vectors.of(question.text),
                top_k=WANTED,
                filters={"user": question.user},
            )
        )

    async def _condition(self, question: Question) -> Found:
        found = self._own.get_search_results(
            query_text=_plain(question.text),
            query_vector=self.vectors.of(question.text),
            top_k=WANTED,
            query_params={"user": question.user},
        )
        return _found(found.records)


def _nodes(found: Any) -> Found:  # noqa: ANN401
    nodes = [record["node"] for record in found.records]
    return Found(None, [node["name"] for node in nodes], [], [node["user"] for node in nodes])


def _found(records: Sequence[Any]) -> Found:
    pairs = [(record["source"], record["target"]) for record in records]
    names = list(dict.fromkeys(name for record in records for name in record["near_first"]))
    return Found(
        pairs, names, [record["text"] for record in records], [record["user"] for record in records]
    )


def _plain(text: str) -> str:
    """The words of a question; punctuation is query syntax, and a single slash is an error."""
    return " ".join(re.findall(r"\w+", text))
