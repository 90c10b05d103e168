from tests.support.fixtures import embedder, opened

__all__ = ["embedder", "opened"]
