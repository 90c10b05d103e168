from tests.support.fixtures import embedder

__all__ = ["embedder"]
