"""Checks of arguments of searches."""

import math
from array import array
from collections.abc import Sequence, Sized

from kgagent.embedding.validation import LONGEST, SHORTEST
from kgagent.errors import InputError
from kgagent.ontology import Ontology
from kgagent.ontology.model import same_but_case

MAX_LIMIT = 10_000
"""Maximum number of results of one search."""


def known_types(ontology: Ontology, neo4j_types: Sequence[str]) -> list[str]:
    """Check Neo4j types, in any letter case; each once, in the order of the ontology.

    Raises:
        InputError: a type is unknown.
    """
    given = {same_but_case(ontology.relationships, name) for name in neo4j_types}
    for name in given:
        ontology.relationship(name)
    return [name for name in ontology.relationships if name in given]


def check_limit(limit: int) -> None:
    """Check the maximum number of results.

    Raises:
        InputError: it is out of range.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InputError(f"limit must be 1 to {MAX_LIMIT}, got {limit}")


def validate_vector(vector: Sequence[float], dimensions: int) -> Sequence[float]:
    """Check a query vector.

    Args:
        vector: any sequence of numbers.
        dimensions: required length, that of the stored embeddings.

    Returns:
        The vector; float32, shape (dimensions,).

    Raises:
        InputError: the length is wrong, an element is no number, or the vector has no direction as
            float32 (a number is not finite, or all are zero).
    """
    if not isinstance(vector, Sized):
        raise InputError(
            f"vector must be a sequence of {dimensions} numbers, got {type(vector).__name__}"
        )
    if len(vector) != dimensions:
        raise InputError(f"vector must have {dimensions} dimensions, got {len(vector)}")
    try:
        sent = array("f", vector)
    except (TypeError, OverflowError) as error:
        raise InputError(f"vector must be numbers: {error}") from None
    length = math.hypot(*sent)
    if not SHORTEST <= length <= LONGEST:
        raise InputError(
            f"vector must be finite and not all zero, with a norm from {SHORTEST:g} to {LONGEST:g}"
        )
    return sent
