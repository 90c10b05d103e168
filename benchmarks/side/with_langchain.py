"""langchain-neo4j: `Neo4jGraph.add_graph_documents` and `Neo4jVector`."""

from collections.abc import Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_neo4j import Neo4jGraph, Neo4jVector
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship

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
    key,
    names_of,
)
from side.walk import FIELDS, walk

NAMES, WORDS, FACTS = "names", "words", "facts"
RETURNED = f"text, score, {{{', '.join(f'{name}: {name}' for name in FIELDS)}}} AS metadata"


class KnownEmbeddings(Embeddings):
    """Returns embeddings made beforehand."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Look texts up."""
        return [self._vectors.of(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Look a text up; it asks for the embedding of "foo" to learn the length."""
        return [0.0] * self._vectors.dimensions if text == "foo" else self._vectors.of(text)


class LangChain(Toolkit):
    """langchain-neo4j; the statements that follow relationships are ours, as its documentation
    intends.
    """

    packages = ("langchain-neo4j", "neo4j-graphrag", "neo4j")

    def __init__(self, where: Address, vectors: Vectors) -> None:
        super().__init__(where, vectors)
        self._stores: dict[str, Any] = {}
        self.searches = {
            "Neo4jVector, hybrid": Search(self._nodes, frozenset({SEARCH})),
            "Neo4jVector, hybrid, retrieval_query of 1 hop": Search(
                self._around, frozenset({SEARCH, HOPS})
            ),
            "Neo4jVector, hybrid, retrieval_query of hops": Search(
                self._around_hops, frozenset({HOPS})
            ),
            "Neo4jVector, relationship index": Search(
                self._facts, frozenset({SEARCH, HOPS, USERS, UPDATE})
            ),
            "Neo4jVector, vector, filter": Search(self._filtered, frozenset({USERS})),
        }

    async def open(self) -> None:
        """Connect; the schema for prompts is not read."""
        self._graph = Neo4jGraph(
            self.where.uri, self.where.username, self.where.password, refresh_schema=False
        )
        # Nodes of one label: the constraint that `baseEntityLabel` asks for is created once, as its
        # first call does.
        self._graph.query(
            "CREATE CONSTRAINT IF NOT EXISTS FOR (b:__Entity__) REQUIRE b.id IS UNIQUE"
        )
        self._graph.structured_schema = {
            "metadata": {"constraint": [{"labelsOrTypes": ["__Entity__"], "properties": ["id"]}]}
        }

    async def insert(self, fact: Fact) -> None:
        """One call of `add_graph_documents`."""
        self._write([fact])

    async def bulk(self, facts: Sequence[Fact]) -> None:
        """One call of `add_graph_documents`, then its indexes of nodes and ours of
        relationships.
        """
        self._write(facts)
        self._index()

    async def update(self, fact: Fact, text: str) -> None:
        """`add_graph_documents` again with the new text and embedding."""
        self._write([Fact(fact.source, fact.target, fact.relation, text, fact.user)])

    async def stored(self, fact: Fact) -> tuple[str | None, list[float] | None]:
        """The text and the embedding."""
        row = self.rows(
            "MATCH ({id: $source})-[r:RELATED_TO]->({id: $target}) RETURN r.text AS text, "
            "r.embedding AS vector",
            source=key(fact.user, fact.source),
            target=key(fact.user, fact.target),
        )[0]
        return row["text"], row["vector"]

    def _write(self, facts: Sequence[Fact]) -> None:
        nodes = {
            (user, name): Node(
                id=key(user, name),
                type="Thing",
                properties={"name": name, "user": user, "embedding": self.vectors.of(name)},
            )
            for user, name in names_of(facts)
        }
        relationships = [
            Relationship(
                source=nodes[fact.user, fact.source],
                target=nodes[fact.user, fact.target],
                type="RELATED_TO",
                properties={
                    "relation": fact.relation,
                    "text": fact.text,
                    "user": fact.user,
                    "source": fact.source,
                    "target": fact.target,
                    "embedding": self.vectors.of(fact.text),
                },
            )
            for fact in facts
        ]
        self._graph.add_graph_documents(
            [GraphDocument(nodes=list(nodes.values()), relationships=relationships)],
            baseEntityLabel=True,
        )

    def _index(self) -> None:
        dimensions = self.vectors.dimensions
        self._graph.query(
            f"CREATE VECTOR INDEX {FACTS} IF NOT EXISTS FOR ()-[r:RELATED_TO]-() ON r.embedding "
            f"OPTIONS {{indexConfig: "
            f"{{`vector.dimensions`: {dimensions}, `vector.similarity_function`: 'cosine'}}}}"
        )
        common = {
            "url": self.where.uri,
            "username": self.where.username,
            "password": self.where.password,
        }
        embeddings = KnownEmbeddings(self.vectors)
        found = "RETURN node.name AS text, score, {user: node.user} AS metadata"
        around = {hops: walk(hops, RETURNED) for hops in (1, 2, 3)}

        def of_nodes(kind: str, statement: str) -> Any:  # noqa: ANN401
            return Neo4jVector.from_existing_graph(
                embeddings,
                "__Entity__",
                "embedding",
                ["name"],
                keyword_index_name=WORDS,
                index_name=NAMES,
                search_type=kind,
                retrieval_query=statement,
                **common,
            )

        self._stores = {
            f"hops {hops}": of_nodes("hybrid", statement) for hops, statement in around.items()
        }
        self._stores |= {
            "nodes": of_nodes("hybrid", found),
            "filter": of_nodes("vector", around[1]),
        }
        self._stores["facts"] = Neo4jVector.from_existing_relationship_index(
            embeddings, FACTS, text_node_property="text", **common
        )
        self.await_indexes()

    async def _nodes(self, question: Question) -> Found:
        found = self._stores["nodes"].similarity_search(question.text, k=WANTED)
        return Found(
            None, [one.page_content for one in found], [], [one.metadata["user"] for one in found]
        )

    async def _around(self, question: Question) -> Found:
        return _found(self._stores["hops 1"].similarity_search(question.text, k=WANTED))

    async def _around_hops(self, question: Question) -> Found:
        return _found(
            self._stores[f"hops {question.hops}"].similarity_search(question.text, k=WANTED)
        )

    async def _filtered(self, question: Question) -> Found:
        found = self._stores["filter"].similarity_search(
            question.text, k=WANTED, filter={"user": question.user}
        )
        return _found(found)

    async def _facts(self, question: Question) -> Found:
        return _found(self._stores["facts"].similarity_search(question.text, k=WANTED))

    async def close(self) -> None:
        """Close its connections."""
        self._graph.close()
        self._stores.clear()
        await super().close()


def _found(documents: Sequence[Any]) -> Found:
    pairs = [(one.metadata["source"], one.metadata["target"]) for one in documents]
    near_first = [
        one.metadata.get("near_first", pair) for one, pair in zip(documents, pairs, strict=True)
    ]
    names = list(dict.fromkeys(name for both in near_first for name in both))
    return Found(
        pairs,
        names,
        [one.page_content for one in documents],
        [one.metadata["user"] for one in documents],
    )
