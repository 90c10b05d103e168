"""The tests use public names only. Ruff (SLF001) checks attributes; this module checks names that
are given as text.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PATCHES = {"setattr", "delattr", "getattr", "patch", "object"}


def private_names_as_text(source: str) -> Iterator[str]:
    """Private names that a call such as `monkeypatch.setattr(module, "_name", …)` names."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        called = (
            call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        )
        for argument in call.args[:2] if called in PATCHES else ():
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                name = argument.value.rpartition(".")[2]
                if name.startswith("_") and not name.startswith("__"):
                    yield argument.value


@pytest.mark.parametrize(
    "call",
    [
        'monkeypatch.setattr(module, "_name", 1)',
        'monkeypatch.setattr("a.b._name", 1)',
        'getattr(graph, "_name")',
    ],
)
def test_a_private_name_is_found(call: str) -> None:
    assert len(list(private_names_as_text(call))) == 1


def test_no_test_patches_or_reads_a_private_name(repository_root: Path) -> None:
    files = list((repository_root / "tests").rglob("*.py"))
    assert len(files) > 100
    found = {
        str(file.relative_to(repository_root)): names
        for file in files
        if file != Path(__file__)
        and (names := list(private_names_as_text(file.read_text("utf-8"))))
    }
    assert found == {}
