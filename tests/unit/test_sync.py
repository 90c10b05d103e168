"""The synchronous classes have what the asynchronous ones have."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


INTERNAL = {"embed_queries", "nodes", "scope", "observer", "loop"}
"""What only kgagent's own parts use, or what a synchronous class has no use for."""


def test_the_stubs_are_up_to_date(repository_root: Path) -> None:
    command = [sys.executable, str(repository_root / "scripts" / "sync_stubs.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stderr


@pytest.mark.parametrize("asynchronous", PAIRS, ids=lambda kind: kind.__name__)
def test_each_public_method_waits_and_has_its_docstring(asynchronous: type[Any]) -> None:
    synchronous = PAIRS[asynchronous]
    names = {name for name in dir(asynchronous) if not name.startswith("_")}
    assert names - set(dir(synchronous)) <= INTERNAL
    for name in names & set(dir(synchronous)):
        member = inspect.getattr_static(synchronous, name)
        assert member.__doc__, name
        assert not inspect.iscoroutinefunction(getattr(synchronous, name)), name
