from tests.support.fixtures import agents, database, embedder

__all__ = ["agents", "database", "embedder"]
