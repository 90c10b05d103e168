"""Prefixes before queries and texts to store."""

import pytest

from kgagent.embedding.factory import make_embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.embedding.wrapper import PrefixedEmbedder
from kgagent.errors import InputError
from kgagent.settings import Settings


async def test_each_kind_of_text_has_its_prefix() -> None:
    plain = HashingEmbedder()
    embedder = PrefixedEmbedder(plain, query_prefix="question ", passage_prefix="fact ")
    assert await embedder.embed(["Ada sails"]) == await plain.embed(["fact Ada sails"])
    assert await embedder.embed_queries(["Ada sails"]) == await plain.embed_queries(
        ["question Ada sails"]
    )


def test_a_prefix_of_stored_texts_changes_the_name_of_the_model_and_one_of_queries_does_not() -> (
    None
):
    plain = HashingEmbedder()
    assert PrefixedEmbedder(plain, query_prefix="q ").model == plain.model
    changed = PrefixedEmbedder(plain, passage_prefix="p ")
    assert changed.model == f"{plain.model} with prefix 'p '"
    assert str(changed) == f"hashing {changed.model}, 256 dimensions"


async def test_a_prefix_does_not_make_a_text_of_an_empty_one() -> None:
    embedder = PrefixedEmbedder(HashingEmbedder(), passage_prefix="fact ")
    with pytest.raises(InputError, match="text 2 of 2 is empty"):
        await embedder.embed(["Ada sails", " "])
    assert await embedder.embed([]) == []


async def test_the_settings_choose_prefixes_for_any_embedder() -> None:
    settings = Settings(_env_file=None, embedder="hashing", query_prefix="q ", passage_prefix="p ")
    made = make_embedder(settings)
    assert isinstance(made, PrefixedEmbedder)
    assert await made.embed(["x"]) == await HashingEmbedder().embed(["p x"])
