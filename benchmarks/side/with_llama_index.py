"""LlamaIndex: `Neo4jPropertyGraphStore` and `VectorContextRetriever`; it runs in an environment of
its own.
"""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.graph_stores.types import EntityNode, Relation
from llama_index.core.indices.property_graph import VectorContextRetriever
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore
from pydantic import PrivateAttr

from side.toolkit import (
    HOPS,
    SEARCH,
    UPDATE,
    USERS,
    WANTED,
    Address,
    Fact,
    Found,
    Question,
    Search,
    Toolkit,
    Vectors,
    distinct_names,
    key,
    names_of,
)

ARROW = " -> "


class KnownEmbedding(BaseEmbedding):  # type: ignore[misc]
    """Returns embeddings made beforehand."""

    _vectors: Vectors = PrivateAttr()

    def __init__(self, vectors: Vectors) -> None:
        super().__init__(model_name="known")
        self._vectors = vectors

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vectors.of(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._vectors.of(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._vectors.of(text)


class LlamaIndex(Toolkit):
    """LlamaIndex's property graph."""

    packages = ("llama-index-core", "llama-index-graph-stores-neo4j", "neo4j")

    def __init__(self, where: Address, vectors: Vectors) -> None:
        super().__init__(where, vectors)
        self._embedding = KnownEmbedding(vectors)
        self.searches = {
            "VectorContextRetriever": Search(self._retrieve, frozenset({SEARCH, HOPS, UPDATE})),
            "VectorContextRetriever, path_depth = hops": Search(
                self._retrieve_hops, frozenset({HOPS})
            ),
            "VectorContextRetriever, filters": Search(self._filtered, frozenset({USERS})),
        }

    async def open(self) -> None:
        """Connect; it creates its constraints and its vector index. The schema for prompts is not
        read.
        """
        self._store = Neo4jPropertyGraphStore(
            username=self.where.username,
            password=self.where.password,
            url=self.where.uri,
            refresh_schema=False,
        )
        self.await_indexes()

    async def insert(self, fact: Fact) -> None:
        """One call for the nodes and one for the relationship."""
        self._write([fact])

    async def bulk(self, facts: Sequence[Fact]) -> None:
        """One call for the nodes and one for the relationships."""
        self._write(facts)

    async def update(self, fact: Fact, text: str) -> None:
        """`upsert_relations` with the new text."""
        self._store.upsert_relations(
            [_relation(Fact(fact.source, fact.target, fact.relation, text, fact.user))]
        )

    async def stored(self, fact: Fact) -> tuple[str | None, list[float] | None]:
        """The text; its relationships have no embedding."""
        row = self.rows(
            "MATCH ({id: $source})-[r]->({id: $target}) RETURN r.text AS text",
            source=_node_id(fact.user, fact.source),
            target=_node_id(fact.user, fact.target),
        )[0]
        return row["text"], None

    def _write(self, facts: Sequence[Fact]) -> None:
        self._store.upsert_nodes(
            [
                EntityNode(
                    name=key(user, name),
                    label="Thing",
                    properties={"user": user},
                    embedding=self.vectors.of(name),
                )
                for user, name in names_of(facts)
            ]
        )
        self._store.upsert_relations([_relation(fact) for fact in facts])

    async def _retrieve(self, question: Question) -> Found:
        return self._ask(question.text)

    async def _retrieve_hops(self, question: Question) -> Found:
        return self._ask(question.text, path_depth=question.hops)

    async def _filtered(self, question: Question) -> Found:
        return self._ask(
            question.text,
            filters=MetadataFilters(filters=[MetadataFilter(key="user", value=question.user)]),
        )

    def _ask(self, text: str, **options: Any) -> Found:  # noqa: ANN401
        retriever = VectorContextRetriever(
            self._store,
            embed_model=self._embedding,
            include_text=False,
            similarity_top_k=WANTED,
            **options,
        )
        lines = [one.node.get_content() for one in retriever.retrieve(text)]
        ends = [(line.split(ARROW)[0], line.rsplit(ARROW, maxsplit=1)[-1]) for line in lines]
        pairs = [(_name(source), _name(target)) for source, target in ends]
        return Found(
            pairs, distinct_names(pairs), lines, [source.partition("/")[0] for source, _ in ends]
        )

    async def close(self) -> None:
        """Close its connections."""
        self._store.close()
        await super().close()


def _relation(fact: Fact) -> Any:  # noqa: ANN401
    return Relation(
        label=fact.relation.upper().replace(" ", "_"),
        source_id=_node_id(fact.user, fact.source),
        target_id=_node_id(fact.user, fact.target),
        properties={"text": fact.text},
    )


def _node_id(user: str, name: str) -> str:
    return str(EntityNode(name=key(user, name)).id)


def _name(identity: str) -> str:
    return identity.partition("/")[2]
