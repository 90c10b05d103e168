"""The conformance page names tests that exist."""

import ast
import re
from pathlib import Path

REFERENCE = re.compile(r"`((?:unit|integration|property|stories)/[\w/]+\.py)::(\w+)`")


def test_every_test_on_the_page_exists(repository_root: Path) -> None:
    page = (repository_root / "docs" / "conformance.md").read_text("utf-8")
    references = REFERENCE.findall(page)
    assert references
    tests = repository_root / "tests"
    missing = [f"{file}::{name}" for file, name in references if name not in functions(tests / file)]
    assert missing == []


def functions(file: Path) -> set[str]:
    """Names of the functions that a file defines."""
    if not file.is_file():
        return set()
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
