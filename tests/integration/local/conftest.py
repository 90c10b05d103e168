"""A home of a local Neo4j for the tests of a module; the downloaded files are shared with the
user's.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kgagent.local import LocalNeo4j
from tests.support.shared_server import JAVA_OPTIONS
from tests.support.shared_server import NEO4J_VERSION as VERSION

__all__ = ["VERSION"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that one server after the other uses."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def local(home: Path) -> Iterator[LocalNeo4j]:
    """The server of that folder, not started; ended when the module's tests are done."""
    server = LocalNeo4j(home, version=VERSION, java_options=JAVA_OPTIONS)
    yield server
    server.down()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[LocalNeo4j]:
    """A server of a folder of this test's own, not started; ended with the test."""
    server = LocalNeo4j(tmp_path / "home", version=VERSION, java_options=JAVA_OPTIONS)
    yield server
    server.down()
