from tests.support.fixtures import agents, embedder, graph, opened

__all__ = ["agents", "embedder", "graph", "opened"]
