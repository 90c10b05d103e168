import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from kgagent.embedding.langchain import LangChainEmbedder
from kgagent.errors import (
    ConfigurationError,
    EmbeddingResponseError,
    EmbeddingUnavailableError,
)


class _Scripted(Embeddings):
    """Distinguishes documents from queries and follows a script."""

    def __init__(self, documents: list[list[float]] | Exception | None = None) -> None:
        self.documents = documents
        self.calls: list[str | list[str]] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(texts)
        if isinstance(self.documents, Exception):
            raise self.documents
        return [[1.0, 0.0] for _ in texts] if self.documents is None else self.documents

    def embed_query(self, text: str) -> list[float]:
        self.calls.append(text)
        return [0.0, float(len(text))]


async def test_stored_texts_are_one_call_and_queries_one_each() -> None:
    model = _Scripted()
    embedder = LangChainEmbedder(model, model="m", dimensions=2)
    assert [list(vector) for vector in await embedder.embed(["a", "b"])] == [[1, 0], [1, 0]]
    assert [list(vector) for vector in await embedder.embed_queries(["a", "bb", "ccc"])] == [
        [0, 1],
        [0, 2],
        [0, 3],
    ]
    assert model.calls[0] == ["a", "b"]
    assert sorted(map(str, model.calls[1:])) == ["a", "bb", "ccc"]


async def test_the_length_can_be_probed() -> None:
    embedder = await LangChainEmbedder.probe(DeterministicFakeEmbedding(size=12), model="fake")
    assert str(embedder) == "langchain fake, 12 dimensions"


async def test_an_error_of_the_model_is_reported_without_its_message() -> None:
    failure = RuntimeError("key sk-1 refused")
    embedder = LangChainEmbedder(_Scripted(failure), model="m", dimensions=2)
    with pytest.raises(EmbeddingUnavailableError, match=r"^m failed with RuntimeError$") as caught:
        await embedder.embed(["a"])
    assert caught.value.__cause__ is failure


@pytest.mark.parametrize("answer", [[], [[1.0]]])
async def test_an_invalid_response_is_an_error(answer: list[list[float]]) -> None:
    embedder = LangChainEmbedder(_Scripted(answer), model="m", dimensions=2)
    with pytest.raises(EmbeddingResponseError):
        await embedder.embed(["a"])


@pytest.mark.parametrize(("model", "dimensions"), [("", 2), ("m", 0)])
def test_a_model_needs_a_name_and_dimensions(model: str, dimensions: int) -> None:
    with pytest.raises(ConfigurationError):
        LangChainEmbedder(_Scripted(), model=model, dimensions=dimensions)
