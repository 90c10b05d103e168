"""The conformance page proves every requirement by tests and benchmarks that exist."""

import ast
import functools
import re
from pathlib import Path

REFERENCE = re.compile(r"`((?:unit|integration|property|stories)/[\w/]+\.py)::(\w+)`")


def test_every_test_on_the_page_exists(repository_root: Path) -> None:
    page = (repository_root / "docs" / "conformance.md").read_text("utf-8")
    references = REFERENCE.findall(page)
    assert references
    tests = repository_root / "tests"
    missing = [
        f"{file}::{name}" for file, name in references if name not in functions(tests / file)
    ]
    assert missing == []


def test_every_requirement_names_a_test_a_benchmark_or_a_page(repository_root: Path) -> None:
    page = (
        (repository_root / "docs" / "conformance.md")
        .read_text("utf-8")
        .split("## Deliberate differences")[0]
    )
    rows = [line for line in page.splitlines() if line.startswith("| ") and line.count("|") == 3]
    proofs = [
        row.split("|")[2]
        for row in rows
        if not row.startswith(("| id", "| [", "| requirement", "| ---"))
    ]
    assert len(proofs) > 150
    named = ("benchmarks/", "pyproject.toml", ".md")
    assert [
        proof
        for proof in proofs
        if not REFERENCE.search(proof) and not any(name in proof for name in named)
    ] == []


def test_every_file_on_the_page_exists(repository_root: Path) -> None:
    page = (repository_root / "docs" / "conformance.md").read_text("utf-8")
    tests = re.findall(r"`((?:adversarial|integration|property|unit)/[\w/]+\.py)", page)
    programs = re.findall(r"(?:benchmarks|scripts)/\w+\.py", page)
    assert [file for file in tests if not (repository_root / "tests" / file).is_file()] == []
    assert [file for file in programs if not (repository_root / file).is_file()] == []


@functools.cache
def functions(file: Path) -> set[str]:
    """Names of the functions that a file defines."""
    if not file.is_file():
        return set()
    tree = ast.parse(file.read_text("utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
