import pytest

from tests.support.fixtures import embedder

__all__ = ["embedder", "part"]

PARTS = 3


@pytest.fixture(params=range(1, PARTS + 1))
def part(request: pytest.FixtureRequest) -> int:
    """Splits the examples of a long test among the workers."""
    number: int = request.param
    return number
