"""kgagent: the tools `remember` and `update_relationship`, `graph.load` and `graph.search`."""

import json
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from kgagent import HybridSearchRequest, KnowledgeGraph, Settings
from kgagent.embedding.base import Embedder, Embedding
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
)


class KnownEmbedder(Embedder):
    """Returns embeddings made beforehand."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    @property
    def model(self) -> str:
        """Name stored with each vector."""
        return "known"

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return self._vectors.dimensions

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Look the texts up."""
        return [array("f", self._vectors.of(text)) for text in texts]


class Kgagent(Toolkit):
    """kgagent with its defaults."""

    packages = ("kgagent", "neo4j")
    _graph: KnowledgeGraph

    def __init__(self, where: Address, vectors: Vectors) -> None:
        super().__init__(where, vectors)
        self._owners: dict[str, str] = {}
        self.searches = {
            "search": Search(self._search, frozenset({SEARCH, HOPS, USERS, UPDATE})),
            "search, expand_hops = hops": Search(self._search_hops, frozenset({HOPS})),
        }

    async def open(self) -> None:
        """Connect; it creates its indexes."""
        self._graph = await KnowledgeGraph.connect(
            self.where.uri,
            username=self.where.username,
            password=self.where.password,
            embedder=KnownEmbedder(self.vectors),
            settings=Settings(),
        )

    async def insert(self, fact: Fact) -> None:
        """One call of the tool `remember`, which finds the nodes by name or creates them."""
        answer = await self._graph.tools(user_id=fact.user).remember(
            nodes=[{"label": "Entity", "name": name} for name in (fact.source, fact.target)],
            relationships=[
                {
                    "from": fact.source,
                    "to": fact.target,
                    "relationship_type": fact.relation,
                    "description": fact.text,
                }
            ],
        )
        if not answer["success"]:
            raise RuntimeError(str(answer))

    async def bulk(self, facts: Sequence[Fact]) -> None:
        """`graph.load` of a file for each user."""
        of: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            of[fact.user].append(fact)
        with tempfile.TemporaryDirectory() as folder:
            for user, own in of.items():
                path = Path(folder) / f"{user}.jsonl"
                path.write_text("".join(json.dumps(line) + "\n" for line in _lines(own)), "utf-8")
                report = await self._graph.load(path, user_id=user)
                if report.problems:
                    raise RuntimeError("; ".join(map(str, report.problems[:5])))

    async def update(self, fact: Fact, text: str) -> None:
        """One call of the tool `update_relationship`."""
        answer = await self._graph.tools(user_id=fact.user).update_relationship(
            from_entity_key=fact.source, to_entity_key=fact.target, description=text
        )
        if not answer["success"]:
            raise RuntimeError(str(answer))

    async def stored(self, fact: Fact) -> tuple[str | None, list[float] | None]:
        """The description and the embedding."""
        row = self.rows(
            "MATCH (:Entity {user_id: $user, name: $source})-[r]-(:Entity {user_id: $user, name: "
            "$target}) "
            "RETURN r.description AS text, toFloatList(r.relationship_embedding) AS vector",
            user=fact.user,
            source=fact.source,
            target=fact.target,
        )[0]
        return row["text"], row["vector"]

    def embedding_text(self, fact: Fact) -> str:
        """Its relationships are embedded with their type."""
        return f"{fact.text} {fact.relation}"

    async def prepare_search(self) -> None:
        """Read which user each node belongs to."""
        rows = self.rows("MATCH (n:Entity) RETURN n.entity_key AS key, n.user_id AS user")
        self._owners = {row["key"]: row["user"] for row in rows}

    async def _search(self, question: Question) -> Found:
        return await self._ask(HybridSearchRequest(query=question.text), question.user)

    async def _search_hops(self, question: Question) -> Found:
        return await self._ask(
            HybridSearchRequest(query=question.text, expand_hops=question.hops), question.user
        )

    async def _ask(self, request: HybridSearchRequest, user: str) -> Found:
        found = await self._graph.search(request, user_id=user)
        relationships = found.relationships or ()
        return Found(
            [(one.from_name, one.to_name) for one in relationships],
            [node.name for node in found.objects],
            [one.description or "" for one in relationships],
            [self._owners.get(one.from_entity_key, "unknown") for one in relationships],
        )

    async def close(self) -> None:
        """Close its connection."""
        await self._graph.close()
        await super().close()


def _lines(facts: Sequence[Fact]) -> list[dict[str, str]]:
    names = dict.fromkeys(name for fact in facts for name in (fact.source, fact.target))
    nodes = [{"kind": "node", "label": "Entity", "id": name, "name": name} for name in names]
    return nodes + [
        {
            "kind": "relationship",
            "from": fact.source,
            "to": fact.target,
            "relationship_type": fact.relation,
            "description": fact.text,
        }
        for fact in facts
    ]
