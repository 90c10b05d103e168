"""The synchronous classes are those that the script generates from the asynchronous ones."""

import inspect
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import kgagent
from kgagent import KnowledgeGraph, RetrievalService, Searcher, SyncKnowledgeGraph
from kgagent.adapters.openai import OpenAITools, SyncOpenAITools
from kgagent.sync import SyncRetrieval, SyncSearcher, SyncTool, SyncToolset
from kgagent.tools import BoundTool, Toolset

PAIRS: dict[type[Any], type[Any]] = {
    KnowledgeGraph: SyncKnowledgeGraph,
    RetrievalService: SyncRetrieval,
    Searcher: SyncSearcher,
    BoundTool: SyncTool,
    Toolset: SyncToolset,
    OpenAITools: SyncOpenAITools,
}
INTERNAL = {"embed_queries", "relationships_near", "nodes_near", "nodes", "known_labels"}
"""Methods that the services of kgagent call on each other."""

ASYNCHRONOUS = {"close", "loop"}
"""What the synchronous classes have of their own, or have no use for."""


def members(kind: type[Any]) -> set[str]:
    """Names of public methods and properties, those of base classes of kgagent included."""
    bases = [base for base in inspect.getmro(kind) if base.__module__.startswith("kgagent.")]
    return {
        name
        for base in bases
        for name, value in vars(base).items()
        if not name.startswith("_")
        and isinstance(value, property | staticmethod | classmethod | FunctionType)
    }


def names_of(*kinds: type[Any]) -> dict[str, Any]:
    """The names that the annotations of classes may use."""
    names = {name: getattr(kgagent, name) for name in dir(kgagent)}
    for kind in kinds:
        names |= vars(sys.modules[kind.__module__])
    return names


def signature(kind: type[Any], name: str, names: dict[str, Any]) -> tuple[list[Any], Any]:
    """Parameters without `self`, as (name, kind, default, type), and the type of the result."""
    method: Any = inspect.getattr_static(kind, name)
    function: Any = method.fget if isinstance(method, property) else getattr(kind, name)
    made = inspect.signature(function)

    def evaluated(annotation: Any) -> Any:
        return eval(annotation, names) if isinstance(annotation, str) else annotation

    parameters = [
        (one.name, one.kind, one.default, evaluated(one.annotation))
        for one in made.parameters.values()
        if one.name != "self"
    ]
    return parameters, evaluated(made.return_annotation) if name != "connect" else None


def test_the_generated_files_are_up_to_date(repository_root: Path) -> None:
    script = repository_root / "scripts" / "generate_sync.py"
    command = [sys.executable, str(script), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stderr


def test_a_stale_file_is_named(repository_root: Path, tmp_path: Path) -> None:
    for name in ("scripts/generate_sync.py", "pyproject.toml", "src"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        _copy(repository_root / name, tmp_path / name)
    stale = tmp_path / "src" / "kgagent" / "sync.py"
    stale.write_text(stale.read_text("utf-8").replace("def explore(", "def look("), "utf-8")
    command = [sys.executable, str(tmp_path / "scripts" / "generate_sync.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 1
    assert (
        checked.stdout
        == "src/kgagent/sync.py is out of date: run python scripts/generate_sync.py\n"
    )


@pytest.mark.parametrize("asynchronous", PAIRS, ids=lambda kind: kind.__name__)
def test_signatures_are_equal(asynchronous: type[Any]) -> None:
    names = members(asynchronous) - INTERNAL - ASYNCHRONOUS
    assert names
    known = names_of(PAIRS[asynchronous], *inspect.getmro(asynchronous))
    for name in names:
        parameters, result = signature(asynchronous, name, known)
        assert signature(PAIRS[asynchronous], name, known) == (
            parameters,
            PAIRS.get(result, result),
        ), name


@pytest.mark.parametrize("asynchronous", PAIRS, ids=lambda kind: kind.__name__)
def test_a_docstring_is_one_line_that_names_the_asynchronous_method_if_that_says_more(
    asynchronous: type[Any],
) -> None:
    for name in members(asynchronous) - INTERNAL - ASYNCHRONOUS:
        whole = inspect.getattr_static(asynchronous, name).__doc__
        text = inspect.getattr_static(PAIRS[asynchronous], name).__doc__
        assert whole
        assert text
        assert "\n" not in text
        assert text == whole or (f"ee `{asynchronous.__name__}.{name}`." in text and "\n" in whole)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        for file in source.rglob("*.py"):
            copied = target / file.relative_to(source)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(file.read_bytes())
    else:
        target.write_bytes(source.read_bytes())
