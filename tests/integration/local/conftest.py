"""A home of a local Neo4j for the tests of a module; the downloaded files are shared with the user's."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgagent.local import LocalNeo4j
from kgagent.settings import Settings

VERSION = os.environ.get("KGAGENT_TEST_NEO4J", str(Settings.model_fields["local_neo4j_version"].default))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that one server after the other uses."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def local(home: Path) -> Iterator[LocalNeo4j]:
    """The server of that folder, not started; ended when the module's tests are done."""
    server = LocalNeo4j(home, version=VERSION)
    yield server
    server.down()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[LocalNeo4j]:
    """A server of a folder of this test's own, not started; ended with the test."""
    server = LocalNeo4j(tmp_path / "home", version=VERSION)
    yield server
    server.down()
