from pathlib import Path

import pytest

from kgagent.errors import ConfigurationError
from kgagent.local.config import (
    Memory,
    choose_memory,
    machine_memory,
    render_config,
    server_arguments,
)
from kgagent.local.java import Java
from kgagent.local.releases import find_release

VERSIONS = ["2026.08.1", "5.26.30"]
MEMORY = Memory(heap=1024, page_cache=256)


def _settings(version: str) -> dict[str, str]:
    text = render_config(find_release(version), port=7001, memory=MEMORY)
    rows = [line.split("=", maxsplit=1) for line in text.splitlines()]
    assert len(dict(rows)) == len(rows)
    return dict(rows)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_server_listens_on_the_loopback_address_and_requires_a_password(version: str) -> None:
    settings = _settings(version)

    assert settings["server.default_listen_address"] == "127.0.0.1"
    assert settings["server.bolt.listen_address"] == "127.0.0.1:7001"
    assert settings["server.http.enabled"] == settings["server.https.enabled"] == "false"
    assert settings["dbms.security.auth_enabled"] == "true"
    assert settings["dbms.usage_report.enabled"] == "false"


def test_given_settings_are_added_and_override_the_others() -> None:
    more = {
        "server.http.enabled": "true",
        "dbms.fleet_manager.enabled": "true",
        "server.cypher.parallel": "x",
    }

    text = render_config(find_release("2026.08.1"), port=7001, memory=MEMORY, more=more)

    rows = text.splitlines()
    assert set(rows) >= {f"{name}={value}" for name, value in more.items()}
    assert "server.http.enabled=false" not in rows
    assert "dbms.fleet_manager.enabled=false" not in rows


@pytest.mark.parametrize("modules", [frozenset[str](), frozenset({"jdk.incubator.vector"})])
def test_vector_instructions_are_used_if_java_supports_them(modules: frozenset[str]) -> None:
    java = Java(Path("java"), 25, modules)

    arguments = server_arguments(find_release("2026.08.1"), java, [Path("a.jar")], MEMORY)

    assert ("jdk.incubator.vector" in arguments) == bool(modules)
    assert "-Xmx1024m" in arguments
    assert arguments[-1] == "org.neo4j.server.Neo4jCommunity"


def test_given_options_override_the_defaults() -> None:
    java = Java(Path("java"), 25, frozenset())
    arguments = server_arguments(find_release("2026.08.1"), java, [], MEMORY, ["-Xmx2g"])

    # Java takes the last of several values, and everything after the main class is an argument of
    # the program.
    assert (
        arguments.index("-Xmx1024m")
        < arguments.index("-Xmx2g")
        < arguments.index("org.neo4j.server.Neo4jCommunity")
    )


@pytest.mark.parametrize(("major", "known"), [(17, False), (21, False), (25, True)])
def test_a_java_gets_no_flag_that_it_does_not_know(major: int, known: bool) -> None:
    java = Java(Path("java"), major, frozenset())

    arguments = server_arguments(find_release("5.26.30"), java, [], MEMORY)

    assert any(argument.startswith("--sun-misc-unsafe") for argument in arguments) == known


@pytest.mark.parametrize("version", ["4.4.1", "latest"])
def test_version_that_cannot_be_run_is_refused(version: str) -> None:
    with pytest.raises(ConfigurationError, match="Neo4j"):
        find_release(version)


GIB = 1 << 30


@pytest.mark.parametrize(
    ("machine", "memory"),
    [
        (1 * GIB, Memory(heap=512, page_cache=153)),
        (8 * GIB, Memory(heap=2048, page_cache=1228)),
        (256 * GIB, Memory(heap=4096, page_cache=4096)),
    ],
)
def test_memory_fits_the_machine(machine: int, memory: Memory) -> None:
    assert choose_memory(machine) == memory


def test_limit_of_a_container_applies_if_it_is_less_than_the_machine(tmp_path: Path) -> None:
    limit = tmp_path / "sys/fs/cgroup/memory.max"
    limit.parent.mkdir(parents=True)
    limit.write_text("1000000\n")

    assert machine_memory(tmp_path) == 1_000_000


@pytest.mark.parametrize("text", ["max\n", "", "0"])
def test_container_without_a_limit_has_the_whole_machine(tmp_path: Path, text: str) -> None:
    limit = tmp_path / "sys/fs/cgroup/memory.max"
    limit.parent.mkdir(parents=True)
    limit.write_text(text)

    assert machine_memory(tmp_path) == machine_memory(tmp_path / "nothing")
