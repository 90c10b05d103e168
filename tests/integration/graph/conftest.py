from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

from tests.conftest import Server
from tests.support.fixtures import agents, embedder
from tests.support.own_ontology import lent_ontology, own

__all__ = ["agents", "driver", "embedder", "lent_ontology", "own"]


@pytest.fixture(scope="module")
def driver(server: Server) -> Iterator[Driver]:
    """A driver without the toolkit around it, to ask for plans."""
    with GraphDatabase.driver(
        server.uri, auth=(server.username, server.password), notifications_min_severity="OFF"
    ) as opened:
        yield opened
