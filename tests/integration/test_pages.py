"""The examples of the pages that say what each prints, run as they stand, one after the other."""

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph, local
from kgagent.settings import get_settings
from tests.conftest import Server
from tests.support.openai_models import API_KEY, Body, Calls, ScriptedModel, Turn, scripted_model
from tests.support.reading import careful_reader
from tests.support.shared_server import QuickLocalNeo4j

PAGES = ("index", "concepts", "tools", "recipes", "configuration", "patterns", "langgraph", "hosting", "python")


def examples(page: Path, user_id: str) -> Iterator[tuple[str, str]]:
    """Each block of Python, with what the block of text after it says that it prints."""
    pairs = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page.read_text("utf-8"), re.DOTALL)
    for code, printed in pairs:
        yield code.replace('"me"', f'"{user_id}"'), printed


def looking(question: str) -> Turn:
    """A model that looks before it answers."""

    def turn(_: list[Body]) -> Calls:
        return [("explore", {"queries": [{"query": question}]})]

    return turn


def telling(name: str, rest: str) -> Turn:
    """A model that mentions a person if its context does."""

    def turn(outputs: list[Body]) -> str:
        text = outputs[-1]["text"]
        return f"{name} {rest}" if name in text else f"I know nobody but those in: {text}"

    return turn


def recalling(served: ScriptedModel, name: str, rest: str) -> Turn:
    """A model that mentions a person if its system prompt does."""

    def turn(_: list[Body]) -> str:
        prompt = str(served.requests[-1]["messages"][0]["content"])
        return f"{name}{rest}" if name in prompt else f"I know nobody but those in: {prompt}"

    return turn


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """The chat model of the recipes, in their order: two agents that look and tell, and a reader of a conversation."""
    agents = (
        looking("who taught me to draw hulls?"),
        telling("Nadia Brandt", "taught you."),
        looking("who lends me a boat?"),
        telling("Owen Price", "lends you his."),
    )
    with scripted_model() as served:
        recall = recalling(served, "Owen Price", "'s, in summer.")
        served.turns = chain(agents[:2], [recall], agents[2:], repeat(careful_reader))
        yield served


@pytest.fixture
def surroundings(
    server: Server, model: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Settings of the environment lead to the tests' Neo4j, the local embedding model and the scripted chat model."""
    monkeypatch.setenv("NEO4J_URI", server.uri)
    monkeypatch.setenv("NEO4J_USERNAME", server.username)
    monkeypatch.setenv("NEO4J_PASSWORD", server.password)
    monkeypatch.setenv("KGAGENT_EMBEDDER", "local")
    monkeypatch.setenv("OPENAI_API_KEY", API_KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "LocalNeo4j", QuickLocalNeo4j)
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


async def run(code: str, page: Path, names: dict[str, Any]) -> None:
    """Run a block as `python -m asyncio` does."""
    running = eval(compile(code, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.isawaitable(running):
        await running


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("name", PAGES)
async def test_each_example_prints_what_the_page_says(
    name: str, repository_root: Path, user_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page = repository_root / "docs" / f"{name}.md"
    names: dict[str, Any] = {}
    page_examples = list(examples(page, user_id))
    try:
        for code, printed in page_examples:
            await run(code, page, names)
            assert capsys.readouterr().out == printed, code
    finally:
        if isinstance(graph := names.get("graph"), KnowledgeGraph):
            await graph.close()
    assert any(printed for _, printed in page_examples)
