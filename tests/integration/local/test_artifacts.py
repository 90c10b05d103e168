from pathlib import Path

from kgagent.local import fetch
from kgagent.local.artifacts import is_valid
from kgagent.local.lock import load_lock

NAME = "neo4j-2026.08.1"


def test_damaged_and_missing_jars_are_loaded_from_maven_central(tmp_path: Path) -> None:
    lock = load_lock(NAME)
    shared = fetch(NAME)
    jars = [tmp_path / "maven" / file.path for file in lock.files]
    for source, jar in zip(shared, jars, strict=True):
        jar.parent.mkdir(parents=True, exist_ok=True)
        jar.hardlink_to(source)
    small = sorted(range(len(jars)), key=lambda index: lock.files[index].size)[:2]
    for index in small:
        jars[index].unlink()
    jars[small[0]].write_bytes(b"damaged")

    assert fetch(NAME, cache=tmp_path) == jars

    assert all(is_valid(jars[index], lock.files[index]) for index in small)
