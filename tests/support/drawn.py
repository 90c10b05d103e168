"""Graphs drawn by name, with nodes of given similarity to one query."""

import math
from collections.abc import Iterable, Mapping

from kgagent import KnowledgeGraph, Searcher, SearchOptions
from tests.conftest import DIMENSIONS
from tests.support.stored import cypher

QUERY = [1.0] + [0.0] * (DIMENSIONS - 1)
"""The vector of the query."""


def near_query(similarity: float) -> list[float]:
    """A vector with that cosine to `QUERY`."""
    return [similarity, math.sqrt(1.0 - similarity**2)] + [0.0] * (DIMENSIONS - 2)


class Drawing:
    """A user's graph whose nodes are called by name."""

    def __init__(self, graph: KnowledgeGraph, user_id: str) -> None:
        self.graph = graph
        self.user_id = user_id

    def key(self, name: str) -> str:
        """The entity key of a node."""
        return f"{self.user_id}:{name}"

    def name(self, key: str) -> str:
        """The name of the node with that entity key."""
        return key.removeprefix(f"{self.user_id}:")

    async def nodes(
        self, *names: str, label: str = "Person", similar: Mapping[str, float] | None = None
    ) -> None:
        """Draw nodes; those of `similar` get an embedding with that cosine to `QUERY`, others
        none.
        """
        rows = [
            {
                "key": self.key(name),
                "name": name,
                "embedding": near_query(similar[name]) if name in similar else None,
            }
            for similar in [similar or {}]
            for name in dict.fromkeys([*names, *similar])
        ]
        await cypher(
            self.graph,
            f"UNWIND $rows AS row CREATE (:`{label}` "
            f"{{entity_key: row.key, user_id: $user, name: row.name, "
            "embedding: row.embedding})",
            rows=rows,
            user=self.user_id,
        )

    async def joins(
        self, pairs: Iterable[tuple[str, str]], *, neo4j_type: str = "has_relationship_with"
    ) -> None:
        """Draw relationships, each from the first to the second."""
        rows = [{"first": self.key(first), "second": self.key(second)} for first, second in pairs]
        await cypher(
            self.graph,
            "UNWIND $rows AS row MATCH (a:Person|Concept {entity_key: row.first, user_id: $user}) "
            "MATCH (b:Person|Concept {entity_key: row.second, user_id: $user}) "
            f"CREATE (a)-[:`{neo4j_type}` {{user_id: $user}}]->(b)",
            rows=rows,
            user=self.user_id,
        )

    def searcher(self, name: str, graph: KnowledgeGraph | None = None) -> Searcher:
        """A searcher of the user."""
        return (graph or self.graph).searcher(name, user_id=self.user_id)

    def options(self, *seeds: str, **more: object) -> SearchOptions:
        """Options with seeds by name, that look for `QUERY`."""
        return SearchOptions.model_validate(
            {"seed_node_ids": tuple(map(self.key, seeds)), "vector": QUERY, **more}
        )
