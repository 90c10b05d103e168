"""A text that the model refuses, among others that it does not."""

from collections.abc import Sequence

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import EmbeddingResponseError
from kgagent.knowledge_graph import services_of
from tests.support.people import persons


class Squeamish(HashingEmbedder):
    """Refuses a batch that holds a certain word, or all of them."""

    def __init__(self, word: str) -> None:
        super().__init__(384)
        self.word = word
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.calls += 1
        if any(self.word in text for text in texts):
            raise EmbeddingResponseError(f"the model refused a text with {self.word}")
        return await super().embed(texts)


async def created(graph: KnowledgeGraph, user_id: str, embedder: Squeamish, words: list[str]) -> list[bool]:
    keys = await persons(graph.tools(user_id=user_id), *(f"P{i}" for i in range(len(words) + 1)))
    other = KnowledgeGraph(services_of(graph).store, graph.ontology, embedder, graph.settings)
    answer = await other.tools(user_id=user_id).create_relationships(
        relationships=[
            {"from_entity_key": keys[0], "to_entity_key": key, "relationship_type": word}
            for key, word in zip(keys[1:], words, strict=True)
        ]
    )
    return [result["success"] for result in answer["results"]]


async def test_the_other_items_of_a_batch_are_written(graph: KnowledgeGraph, user_id: str) -> None:
    embedder = Squeamish("poison")
    assert await created(graph, user_id, embedder, ["friend", "poison", "mentor"]) == [True, False, True]


async def test_a_model_that_refuses_everything_is_not_called_for_each_text(graph: KnowledgeGraph, user_id: str) -> None:
    embedder = Squeamish("e")
    assert not any(await created(graph, user_id, embedder, [f"mentee{i}" for i in range(20)]))
    assert embedder.calls == 1 + 3
