from kgagent import ExploreRequest, KnowledgeGraph, VectorQuery
from kgagent.embedding.hashing import HashingEmbedder, hash_embedding
from kgagent.errors import EmbeddingError
from kgagent.tools import Toolset
from tests.conftest import DIMENSIONS
from tests.support.people import two_friends


async def test_mixed(graph: KnowledgeGraph, tools: Toolset, user_id: str, monkeypatch) -> None:
    await two_friends(tools, description="boats and sails")

    async def fail(*_: object) -> object:
        raise EmbeddingError("down")

    monkeypatch.setattr(HashingEmbedder, "embed", fail)
    vector = list(hash_embedding("boats and sails", DIMENSIONS))
    for queries in ((VectorQuery(query="sails"), VectorQuery(query="boats", vector=vector)),):
        result = await graph.retrieval.explore(ExploreRequest(queries=queries), user_id=user_id)
        print(result)
        assert result.relationships
