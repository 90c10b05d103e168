import pytest
from pydantic import ValidationError

from kgagent.errors import ConfigurationError
from kgagent.local.lock import Lock, LockedFile, load_lock, lock_names

SHA256 = "0" * 64


@pytest.mark.parametrize("name", lock_names())
def test_every_lock_that_ships_reads_and_writes_back_the_same(name: str) -> None:
    lock = load_lock(name)

    assert Lock.model_validate_json(lock.render()) == lock
    assert "//" not in lock.render()
    assert len({file.path for file in lock.files}) == len(lock.files)


def test_path_of_a_jar_is_that_of_a_maven_repository() -> None:
    plain = LockedFile(coordinate="org.neo4j:neo4j:1.2", sha256=SHA256, size=1)
    native = LockedFile(coordinate="io.netty:epoll:4.2:linux-x86_64", sha256=SHA256, size=1)

    assert str(plain.path) == "org/neo4j/neo4j/1.2/neo4j-1.2.jar"
    assert str(native.path) == "io/netty/epoll/4.2/epoll-4.2-linux-x86_64.jar"


@pytest.mark.parametrize("coordinate", ["a:b", "a::1", "a:../b:1", "a:b\\c:1"])
def test_a_coordinate_that_could_leave_the_cache_is_refused(coordinate: str) -> None:
    with pytest.raises(ValidationError):
        LockedFile(coordinate=coordinate, sha256=SHA256, size=1)


def test_unknown_lock_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ConfigurationError, match=r"neo4j-1\.0.*neo4j-2026\.08\.1"):
        load_lock("neo4j-1.0")
