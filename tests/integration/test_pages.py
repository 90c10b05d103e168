"""The examples of the pages that say what each prints, run as they stand, one after the other."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph, SyncKnowledgeGraph, local
from kgagent.settings import get_settings
from tests.conftest import Server
from tests.support.openai_models import API_KEY, Body, Calls, ScriptedModel, deciding_model
from tests.support.reading import careful_reader
from tests.support.shared_server import QuickLocalNeo4j

PAGES = (
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            "adopt",
            "agents",
            "concepts",
            "configuration",
            "hosting",
            "patterns",
            "python",
            "sources",
            "tools",
        )
    ),
    "docs/your-data.md",
)


def examples(page: Path, user_id: str) -> Iterator[tuple[str, str]]:
    """Each block of Python, with what the block of text after it says that it prints."""
    pairs = re.findall(
        r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page.read_text("utf-8"), re.DOTALL
    )
    for code, printed in pairs:
        yield code.replace('"me"', f'"{user_id}"'), printed


def written_for(question: str, outputs: list[Body], shown: str) -> Calls | str:
    """What the model of the examples says: it reads a conversation, or searches first and then
    names whom it finds.
    """
    if question not in ANSWERS:
        return careful_reader(outputs)
    name, answer = ANSWERS[question]
    if not outputs and name not in shown:
        return [("explore", {"queries": [{"query": question}]})]
    context = shown + "".join(output["text"] for output in outputs)
    return answer if name in context else f"I know nobody but those in: {context}"


ANSWERS = {
    "Who taught me to lead?": ("Ruth Calder", "Ruth Calder taught you."),
    "Who taught me to draw hulls?": ("Nadia Brandt", "Nadia Brandt taught you."),
    "Whose boat may I borrow?": ("Owen Price", "Owen Price's, in summer."),
    "Who lends me a boat?": ("Owen Price", "Owen Price lends you his."),
}
"""The questions of the examples: a name that a model must have been shown, and what it then
says.
"""


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """The chat model of the examples."""

    def turn(outputs: list[Body]) -> Calls | str:
        messages = served.requests[-1]["messages"]
        said = [str(one["content"]) for one in messages if one["role"] in {"system", "user"}]
        return written_for(said[-1], outputs, "\n".join(said[:-1]))

    with deciding_model(turn) as served:
        yield served


@pytest.fixture
def surroundings(
    server: Server, model: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Settings of the environment lead to the tests' Neo4j, the local embedding model and the
    scripted chat model.
    """
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
    page = repository_root / name
    names: dict[str, Any] = {}
    page_examples = list(examples(page, user_id))
    try:
        for code, printed in page_examples:
            await run(code, page, names)
            assert capsys.readouterr().out == printed, code
    finally:
        if isinstance(graph := names.get("graph"), KnowledgeGraph):
            await graph.close()
        elif isinstance(graph, SyncKnowledgeGraph):
            graph.close()
    assert any(printed for _, printed in page_examples)


@pytest.mark.usefixtures("surroundings")
async def test_the_example_of_the_load_format_loads(
    repository_root: Path, user_id: str, tmp_path: Path
) -> None:
    text = (repository_root / "src" / "kgagent" / "files" / "FORMAT.md").read_text("utf-8")
    [example] = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (tmp_path / "people.jsonl").write_text(example, "utf-8")
    async with KnowledgeGraph.connect() as graph:
        report = await graph.load(tmp_path / "people.jsonl", user_id=user_id)
        assert (report.nodes.created, report.relationships.created, report.problems) == (2, 1, ())
