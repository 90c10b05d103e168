from tests.support.fixtures import agents, embedder

__all__ = ["agents", "embedder"]
