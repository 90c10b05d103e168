"""The local model as a fixture, for tests of what real embeddings rank."""

from collections.abc import AsyncIterator

import pytest

from kgagent.embedding.local import LocalEmbedder


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[LocalEmbedder]:
    """The local model."""
    model = LocalEmbedder()
    yield model
    await model.aclose()
