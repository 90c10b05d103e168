"""What `import kgagent` offers."""

import importlib
import importlib.util
import inspect
import pkgutil
import subprocess
import sys
import typing
from collections.abc import Iterator
from typing import Any

import kgagent
import kgagent.models.constraint
import kgagent.models.hybrid
from kgagent import KgAgentError, KnowledgeGraph, SyncKnowledgeGraph, SyncRetrieval
from kgagent.models.graph import GraphModel
from kgagent.models.request import RequestModel

HEAVY = ("neo4j", "openai", "onnxruntime", "langchain_core", "pydantic")


def test_every_public_name_can_be_imported() -> None:
    for name in dir(kgagent):
        assert getattr(kgagent, name) is not None


def test_a_star_import_offers_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from kgagent import *", names)
    assert set(names) - {"__builtins__"} == set(dir(kgagent))


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import kgagent, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(kgagent, "no_such_name")


def test_every_exception_of_the_package_is_in_the_one_tree_and_public() -> None:
    for kind in _classes(Exception):
        assert issubclass(kind, KgAgentError), kind
        assert kind.__name__ in dir(kgagent) or _is_documented_as_internal(kind), kind


def test_the_drawing_of_the_tree_has_every_public_exception() -> None:
    import kgagent.errors

    drawing = str(kgagent.errors.__doc__)
    for kind in _classes(KgAgentError):
        assert kind.__name__ not in dir(kgagent) or f" {kind.__name__} " in f" {drawing} ".replace(
            "\n", " "
        ), kind


def test_every_request_and_result_of_the_models_is_public() -> None:
    for kind in (*_classes(GraphModel), *_classes(RequestModel)):
        if kind.__module__.startswith("kgagent.models.") and kind not in BASES:
            assert kind.__name__ in dir(kgagent), kind


def test_every_type_in_a_signature_of_the_facade_is_public() -> None:
    sources = (
        "kgagent.knowledge_graph",
        "kgagent.search.service",
        "kgagent.sync",
    )
    names = {name: getattr(kgagent, name) for name in dir(kgagent)}
    for source in sources:
        names |= vars(importlib.import_module(source))
    for facade in (KnowledgeGraph, SyncKnowledgeGraph, SyncRetrieval):
        for method, value in inspect.getmembers(facade, callable):
            if not method.startswith("_"):
                for kind in _types_in(value, names):
                    assert getattr(kgagent, kind.__name__, None) is kind, (
                        f"{facade.__name__}.{method}: {kind}"
                    )


BASES = {
    GraphModel,
    kgagent.models.graph.DescribedItem,
    RequestModel,
    kgagent.models.constraint.PatternModel,
    kgagent.models.hybrid.RankedItem,
    kgagent.models.live_schema.LiveRecords,
}
"""What requests and results derive from."""


def _classes(base: type[Any]) -> Iterator[type[Any]]:
    """Classes of the package that derive from one."""
    for found in pkgutil.walk_packages(kgagent.__path__, "kgagent."):
        if (
            found.name == "kgagent.adapters.neo4j_graphrag"
            and importlib.util.find_spec("neo4j_graphrag") is None
        ):
            continue  # for those who use that package; its only class is an embedder
        for _, kind in inspect.getmembers(importlib.import_module(found.name), inspect.isclass):
            if kind.__module__ == found.name and issubclass(kind, base):
                yield kind


def _is_documented_as_internal(kind: type[Any]) -> bool:
    return kind.__name__.startswith("_") or "Internal" in str(kind.__doc__)


def _types_in(method: Any, names: dict[str, Any]) -> Iterator[type[Any]]:
    """Classes of kgagent in the annotations of a method."""
    signature = inspect.signature(method)
    for annotation in (
        signature.return_annotation,
        *(one.annotation for one in signature.parameters.values()),
    ):
        yield from _parts(eval(annotation, names) if isinstance(annotation, str) else annotation)


def _parts(annotation: Any) -> Iterator[type[Any]]:
    if inspect.isclass(annotation) and annotation.__module__.startswith("kgagent."):
        yield annotation
    for part in (typing.get_origin(annotation), *typing.get_args(annotation)):
        if part is not None and part is not annotation:
            yield from _parts(part)
