"""Test the wheel with the oldest or the newest versions of its dependencies that pyproject.toml
allows.

    python scripts/check_dependencies.py oldest
    python scripts/check_dependencies.py newest tests/unit tests/integration/test_pages.py

It builds the wheel, installs it with all extras for users into a new environment of this Python,
prints the versions of the direct dependencies, and runs pytest with the given arguments, or else a
selection. "oldest" installs exactly the minimum of each direct dependency, and fails if these
cannot be installed together; the other packages and the test tools are the newest that fit. It
exits with the code of the step that failed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]
_EXTRAS = ("fast", "ingest", "local", "mcp", "otel", "ray")
"""The extras for users."""

_NOT_NEEDED = ("import-linter", "kgagent", "langchain-tests", "mypy", "types-")
"""Starts of the requirements of the extra `dev` that are not installed: no test run here needs
them.
"""

_TESTS = (
    "tests/unit",
    "tests/integration/test_pages.py::test_each_example_prints_what_the_page_says[README.md]",
    "tests/integration/tools",
    "tests/integration/adapters",
    "--ignore=tests/integration/adapters/test_langchain_standard.py",
    "--ignore=tests/unit/test_documents.py",
)
"""Without the test that needs `langchain-tests`, and those of the generated pages, which depend on
typer's version.
"""

_OLD_AND_NEW = ("-W", "default::DeprecationWarning")
"""The newest of the other packages deprecate what the oldest direct dependencies call."""

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<minimum>[\d.]+)(; .+)?")


def project() -> Mapping[str, Any]:
    """The table `project` of pyproject.toml."""
    table: Mapping[str, Any] = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    return table


def minima(requirements: Iterable[str]) -> dict[str, str]:
    """The minimum version of each requirement, by name.

    Raises:
        ValueError: a requirement is not of the form `name>=version`, perhaps with extras and a
            marker.
    """
    found = {}
    for requirement in requirements:
        if (parts := _REQUIREMENT.fullmatch(requirement)) is None:
            raise ValueError(f"{requirement!r} is not of the form name>=version")
        found[parts["name"]] = parts["minimum"]
    return found


def direct_dependencies() -> dict[str, str]:
    """The minimum version of each dependency of the wheel and of its extras for users, by name."""
    table = project()
    extras: Mapping[str, Sequence[str]] = table["optional-dependencies"]
    return minima([*table["dependencies"], *(each for extra in _EXTRAS for each in extras[extra])])


def tools_for_tests() -> list[str]:
    """The requirements of the extra `dev` that the tests need."""
    return [
        each
        for each in project()["optional-dependencies"]["dev"]
        if not each.startswith(_NOT_NEEDED)
    ]


def _run(*command: str | Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    code = subprocess.run(command, cwd=_ROOT, env=environment, check=False).returncode  # noqa: S603 - no untrusted arguments
    if code:
        print(f"{command[0]} ended with {code}", file=sys.stderr)
        sys.exit(code)


def _install(folder: Path, *, oldest: bool) -> Path:
    """Build the wheel and install it with its extras and the test tools; the Python of the new
    environment.
    """
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, _ROOT)
    [wheel] = folder.glob("*.whl")
    _run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    constraints = folder / "constraints.txt"
    pins = direct_dependencies().items() if oldest else ()
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in pins), "utf-8")
    wanted = f"kgagent[{','.join(_EXTRAS)}] @ {wheel.as_uri()}"
    _run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        constraints,
        wanted,
        *tools_for_tests(),
    )
    return python


def _print_versions(python: Path) -> None:
    names = sorted(direct_dependencies())
    program = (
        "import sys, kgagent, importlib.metadata as m; print('kgagent', kgagent.__file__, "
        "sys.version.split()[0]);"
        "print(*(f'{name} {m.version(name)}' for name in sys.argv[1:]), sep=', ')"
    )
    _run(python, "-c", program, *names)


def main() -> None:
    """Parse the options, install, and run the tests."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("versions", choices=("oldest", "newest"))
    parser.add_argument(
        "pytest",
        nargs=argparse.REMAINDER,
        help="arguments for pytest [the unit tests, README, tools and adapters]",
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kgagent-dependencies-") as name:
        python = _install(Path(name), oldest=given.versions == "oldest")
        _print_versions(python)
        warnings = _OLD_AND_NEW if given.versions == "oldest" else ()
        _run(
            python, "-m", "pytest", "-q", "-m", "not browser", *warnings, *(given.pytest or _TESTS)
        )


if __name__ == "__main__":
    main()
