from typing import Any

import pytest

from kgagent.embedding import factory
from kgagent.embedding.factory import advise_embedder, make_embedder
from kgagent.embedding.wrapper import InstrumentedEmbedder
from kgagent.errors import ConfigurationError
from kgagent.observing import NULL_OBSERVER
from kgagent.settings import Settings


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "KGAGENT_EMBEDDER"]:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"openai_api_key": "sk-1"}, "openai text-embedding-3-small, 1536 dimensions"),
        (
            {"openai_api_key": "sk-1", "embedder": "local"},
            "local bge-small-en-v1.5-q, 384 dimensions",
        ),
        ({}, "local bge-small-en-v1.5-q, 384 dimensions"),
        ({"openai_api_key": " "}, "local bge-small-en-v1.5-q, 384 dimensions"),
        ({"embedder": "hashing"}, "hashing blake2b-words, 256 dimensions"),
        (
            {
                "openai_api_key": "sk-1",
                "embedder": "openai",
                "embedding_model": "text-embedding-3-large",
                "embedding_dimensions": 3072,
            },
            "openai text-embedding-3-large, 3072 dimensions",
        ),
    ],
)
async def test_the_settings_choose_the_embedder(given: dict[str, Any], made: str) -> None:
    embedder = make_embedder(Settings(**given))
    assert str(embedder) == made
    await embedder.aclose()


def test_openai_without_a_key_says_what_to_do() -> None:
    with pytest.raises(
        ConfigurationError,
        match="OPENAI_API_KEY is not set; set the key, or KGAGENT_EMBEDDER=local",
    ):
        make_embedder(Settings(embedder="openai", openai_api_key="  "))


def test_no_key_and_no_local_packages_names_both_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "missing_packages", lambda: ["onnxruntime"])
    with pytest.raises(
        ConfigurationError, match=r'onnxruntime .*OPENAI_API_KEY, or pip install "kgagent\[local\]"'
    ):
        make_embedder(Settings())


@pytest.mark.parametrize(
    ("length", "given", "said"),
    [
        (
            384,
            {"openai_api_key": "sk-1"},
            "set KGAGENT_EMBEDDER=local for embeddings of length 384 (with auto, OPENAI_API_KEY "
            "chooses OpenAI)",
        ),
        (384, {"embedder": "hashing"}, "set KGAGENT_EMBEDDER=local for embeddings of length 384"),
        (
            1536,
            {"embedder": "local"},
            "set KGAGENT_EMBEDDER=openai and OPENAI_API_KEY for embeddings of length 1536 "
            "(text-embedding-3-small)",
        ),
        (768, {"openai_api_key": "sk-1"}, "choose the embedder that the graph was created with"),
    ],
)
async def test_the_advice_names_settings_that_make_that_length(
    length: int, given: dict[str, Any], said: str
) -> None:
    chosen = make_embedder(Settings(**given))
    assert advise_embedder(length, chosen) == said
    assert advise_embedder(length, InstrumentedEmbedder(chosen, NULL_OBSERVER)) == said
    await chosen.aclose()
