import math

import pytest

from kgagent.errors import InputError
from kgagent.models import ExploreRequest, VectorQuery


@pytest.mark.parametrize("threshold", [-1.01, 1.01, math.nan])
def test_a_threshold_is_a_cosine(threshold: float) -> None:
    with pytest.raises(InputError, match="threshold"):
        VectorQuery(query="x", threshold=threshold)


@pytest.mark.parametrize("query", ["  ", "x" * 8_001])
def test_a_query_is_text_of_some_length(query: str) -> None:
    with pytest.raises(InputError, match="query"):
        VectorQuery(query=query)


def test_explore_searches_relationships_by_default() -> None:
    request = ExploreRequest()
    assert request.search_relationships
    assert request.limit_per_label == 10
    assert request.labels is None
