import math
from array import array
from collections.abc import Sequence
from typing import Any

import pytest

from kgagent.errors import InputError
from kgagent.search.arguments import validate_vector


@pytest.mark.parametrize(
    "given", [[0.5, -1.0], (0.5, -1.0), array("d", [0.5, -1.0]), array("f", [0.5, -1.0])]
)
def test_a_vector_is_converted_to_float32(given: Sequence[float]) -> None:
    assert validate_vector(given, 2) == array("f", [0.5, -1.0])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1.0], "vector must have 2 dimensions, got 1"),
        ([10**400, 1.0], "vector must be numbers"),
        ([3e38, 3e38], r"vector must be finite and not all zero, with a norm from 1e-15 to 1e\+15"),
        (
            [1e-40, 1e-40],
            r"vector must be finite and not all zero, with a norm from 1e-15 to 1e\+15",
        ),
        ([1.0, -math.inf], "vector must be finite and not all zero"),
    ],
)
def test_an_invalid_vector_is_rejected(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        validate_vector(given, 2)
