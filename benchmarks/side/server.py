"""The Neo4j of a run: the embedded server with the APOC procedures that some toolkits write
with.
"""

import hashlib
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _common import SCHEMA_NAMES
from neo4j import Driver, GraphDatabase

from kgagent import Settings
from kgagent.cli.progress import RichProgress
from kgagent.local import LocalNeo4j, fetch
from kgagent.local.artifacts import default_cache
from side.toolkit import Address

NEO4J = "2026.08.1"
APOC = "5.26.19"
"""The newest on Maven Central; a newer server loads it with a warning about the version."""

MAVEN = "https://repo1.maven.org/maven2"
JARS = Path(__file__).with_name("apoc.txt")
"""SHA-256 and path of APOC and of what it needs, one a line."""

INDEX_NAMES = "SHOW INDEXES YIELD name, type, owningConstraint WHERE owningConstraint IS NULL AND type <> 'LOOKUP'"
DELETE = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS"


def apoc_jars() -> list[Path]:
    """Download APOC to the folder of downloaded files, and check it."""
    folder = (Settings().cache or default_cache()).expanduser() / "apoc" / APOC
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for line in JARS.read_text("utf-8").splitlines():
        checksum, address = line.split()
        path = folder / address.rpartition("/")[2]
        if not path.exists():
            with urllib.request.urlopen(f"{MAVEN}/{address}", timeout=60) as response:  # noqa: S310 - https, constant
                path.write_bytes(response.read())
        if hashlib.sha256(path.read_bytes()).hexdigest() != checksum:
            path.unlink()
            raise SystemExit(f"{address} has the wrong checksum; try again")
        paths.append(path)
    return paths


@contextmanager
def server_with_apoc(home: Path) -> Iterator[Address]:
    """A temporary server in `home`."""
    jars = [*fetch(f"neo4j-{NEO4J}", cache=Settings().cache, progress=RichProgress()), *apoc_jars()]
    plugins = home / "plugins"
    plugins.mkdir(parents=True)
    for jar in apoc_jars():
        (plugins / jar.name).symlink_to(jar)
    local = LocalNeo4j(
        home,
        cache=Settings().cache,
        version=NEO4J,
        java_options=("-cp", os.pathsep.join(map(str, jars))),
        neo4j_settings={"dbms.security.procedures.unrestricted": "apoc.*"},
    )
    info = local.up(RichProgress())
    try:
        yield Address(info.uri, info.username, info.password)
    finally:
        local.down()


class Cleaner:
    """Empties the server between two toolkits."""

    def __init__(self, where: Address) -> None:
        self._driver: Driver = GraphDatabase.driver(
            where.uri, auth=(where.username, where.password), notifications_min_severity="OFF"
        )

    def empty(self) -> None:
        """Delete all nodes, indexes and constraints."""
        with self._driver.session() as session:
            session.run(DELETE).consume()
            for record in session.run(SCHEMA_NAMES).data():
                session.run(f"DROP CONSTRAINT `{record['name']}` IF EXISTS").consume()
            for record in session.run(INDEX_NAMES).data():
                session.run(f"DROP INDEX `{record['name']}` IF EXISTS").consume()

    def named_nodes(self) -> int:
        """Number of nodes with a name."""
        with self._driver.session() as session:
            return int(
                session.run("MATCH (n) WHERE n.name IS NOT NULL RETURN count(*) AS n").data()[0][
                    "n"
                ]
            )

    def close(self) -> None:
        """Close its connection."""
        self._driver.close()
