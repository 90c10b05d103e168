import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.embedding.validation import validate_embeddings, validate_texts
from kgagent.errors import EmbeddingResponseError, InputError

NUMBERS = st.floats(min_value=-1e3, max_value=1e3, width=32)


@given(
    vectors=st.lists(
        st.lists(NUMBERS, min_size=3, max_size=3).filter(lambda v: any(abs(x) > 1e-3 for x in v))
    )
)
def test_valid_vectors_become_float32(vectors: list[list[float]]) -> None:
    embeddings = validate_embeddings(vectors, count=len(vectors), dimensions=3, model="m")
    assert embeddings == [array("f", vector) for vector in vectors]


@pytest.mark.parametrize(
    ("vectors", "text"),
    [
        ([[1.0, 2.0]], "returned 1 embeddings for 2 texts"),
        ([[1.0, 2.0], [1.0]], r"length 1, expected 2 \(text 2 of 2\)"),
        ([[1.0, math.nan], [1.0, 2.0]], r"zero or not finite \(text 1 of 2\)"),
        ([[1.0, 2.0], [0.0, 0.0]], r"zero or not finite \(text 2 of 2\)"),
        ([[1.0, 2.0], [3e38, 3e38]], r"zero or not finite .*: its length must be 1e-15 to 1e\+15"),
        ([[1.0, 2.0], [1e-40, 0.0]], "zero or not finite"),
        ([[1.0, 2.0], [None, 0.0]], "not a list of numbers"),
    ],
)
def test_invalid_vectors_are_an_error(vectors: list[list[float]], text: str) -> None:
    with pytest.raises(EmbeddingResponseError, match=text):
        validate_embeddings(vectors, count=2, dimensions=2, model="m")


@pytest.mark.parametrize("text", [" \n\t", "a\udfffb"])
def test_a_text_that_cannot_be_embedded_is_named(text: str) -> None:
    with pytest.raises(InputError, match="text 2 of 3"):
        validate_texts(["a", text, "b"])


def test_one_string_is_not_taken_for_a_list_of_characters() -> None:
    with pytest.raises(InputError, match="put it in a list"):
        validate_texts("mentor")
