import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.embedding.base import checked, require_texts
from kgagent.errors import EmbeddingResponseError, InputError

NUMBERS = st.floats(min_value=-1e3, max_value=1e3, width=32)


@given(vectors=st.lists(st.lists(NUMBERS, min_size=3, max_size=3).filter(lambda v: any(abs(x) > 1e-3 for x in v))))
def test_vectors_that_fit_come_back_as_float32(vectors: list[list[float]]) -> None:
    embeddings = checked(vectors, count=len(vectors), dimensions=3, model="m")
    assert embeddings == [array("f", vector) for vector in vectors]


@pytest.mark.parametrize(
    ("vectors", "text"),
    [
        ([[1.0, 2.0]], "asked for 2 embeddings and answered 1"),
        ([[1.0, 2.0]] * 3, "asked for 2 embeddings and answered 3"),
        ([[1.0, 2.0], [1.0]], r"length 1 where 2 was expected \(text 2 of 2\)"),
        ([[1.0, math.nan], [1.0, 2.0]], r"no direction \(text 1 of 2\)"),
        ([[1.0, 2.0], [-math.inf, 2.0]], r"no direction \(text 2 of 2\)"),
        ([[1.0, 2.0], [0.0, 0.0]], r"no direction \(text 2 of 2\)"),
        ([[1.0, 2.0], [1e39, 0.0]], "no direction"),
        ([[1.0, 2.0], [None, 0.0]], "not a list of numbers"),
        ([[1.0, 2.0], None], "not a list of numbers"),
    ],
)
def test_vectors_that_do_not_fit_are_an_error(vectors: list[list[float]], text: str) -> None:
    with pytest.raises(EmbeddingResponseError, match=text):
        checked(vectors, count=2, dimensions=2, model="m")


@given(texts=st.lists(st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: not text.isspace())))
def test_any_text_of_characters_may_be_embedded(texts: list[str]) -> None:
    assert require_texts(tuple(texts)) == texts


@pytest.mark.parametrize("text", ["", " \n\t", "\ud800", "a\udfffb"])
def test_a_text_that_cannot_be_embedded_is_named(text: str) -> None:
    with pytest.raises(InputError, match="text 2 of 3"):
        require_texts(["a", text, "b"])


def test_one_string_is_not_taken_for_a_list_of_characters() -> None:
    with pytest.raises(InputError, match="put it in a list"):
        require_texts("mentor")
