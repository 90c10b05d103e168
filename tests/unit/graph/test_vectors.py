from typing import Any

import pytest

from kgagent.embedding.hashing import HashingEmbedder, hash_embedding
from kgagent.graph.embedded_text import EmbeddedText, vector_changes
from kgagent.graph.records import NodeRecord
from kgagent.graph.stored_embeddings import embedding_hash, is_current
from tests.support.embedders import WatchedEmbedder

EMBEDDER = HashingEmbedder(8)


def record(text: str, **other: Any) -> NodeRecord:
    properties = {
        "embedding_hash": embedding_hash(EMBEDDER, text),
        "embedding_model": EMBEDDER.model,
        **other,
    }
    return NodeRecord(
        element_id="x",
        label="Person",
        vector_length=properties.pop("length", 8),
        properties={name: value for name, value in properties.items() if value is not None},
    )


@pytest.mark.parametrize(
    "stored",
    [
        record("b"),
        record("a", embedding_model="other"),
        record("a", embedding_model=None),
        record("a", embedding_hash=None),
        record("a", length=7),
        record("a", length=None),
    ],
)
def test_any_other_vector_is_stale(stored: NodeRecord) -> None:
    assert not is_current(stored, "a", EMBEDDER)


def test_a_record_without_text_must_have_no_vector() -> None:
    assert is_current(
        record("", length=None, embedding_hash=None, embedding_model=None), "", EMBEDDER
    )
    assert not is_current(record("a"), "", EMBEDDER)


async def test_stale_texts_are_embedded_in_one_request_and_the_others_not() -> None:
    watched = WatchedEmbedder(EMBEDDER)
    changes = await vector_changes(
        watched,
        [
            EmbeddedText("new", None),
            EmbeddedText("a", record("a")),
            EmbeddedText("c", record("b")),
            EmbeddedText("", None),
            EmbeddedText("", record("b")),
        ],
    )
    assert watched.stored == [["new", "c"]]
    assert [change.vector for change in changes] == [
        hash_embedding("new", 8),
        None,
        hash_embedding("c", 8),
        None,
        None,
    ]
    assert [bool(change.properties) for change in changes] == [True, False, True, False, True]
    assert changes[4].properties == {
        "embedding": None,
        "embedding_hash": None,
        "embedding_model": None,
    }
