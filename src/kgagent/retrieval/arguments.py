"""Checks of what a search is given."""

import math
from array import array
from collections.abc import Sequence

from kgagent.errors import InputError
from kgagent.retrieval.indexed_search import MAX_FETCH


def validate_vector(vector: Sequence[float], dimensions: int) -> Sequence[float]:
    """Take a vector to look for after checking it.

    Args:
        vector: any sequence of numbers.
        dimensions: length that it must have, that of the stored embeddings.

    Returns:
        The vector; float32, shape (dimensions,).

    Raises:
        InputError: another length, something that is no number, or no direction as float32: a number that is not
            finite, or all of them zero.
    """
    if len(vector) != dimensions:
        raise InputError(f"vector must have {dimensions} dimensions, got {len(vector)}")
    try:
        sent = array("f", vector)
    except (TypeError, OverflowError) as error:
        raise InputError(f"vector must be numbers: {error}") from None
    length = math.hypot(*sent)
    if length == 0.0 or not math.isfinite(length):
        raise InputError("vector must be finite and not all zero as float32")
    return sent


def check_scope(user_id: str, limit: int = 1) -> None:
    """Check whose graph is searched, and for how many hits.

    Raises:
        InputError: nobody's, or a limit out of its range.
    """
    if not user_id:
        raise InputError("user_id must not be empty: every search is one user's")
    if not 1 <= limit <= MAX_FETCH:
        raise InputError(f"limit must be 1 to {MAX_FETCH}, got {limit}")
