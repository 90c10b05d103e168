"""The examples of docs/patterns.md, run as they stand, one after the other."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgagent.settings import get_settings
from tests.conftest import Server


def examples(page: Path, user_id: str) -> Iterator[tuple[str, str]]:
    """Each block of Python, with what the block of text after it says that it prints."""
    pairs = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page.read_text("utf-8"), re.DOTALL)
    for code, printed in pairs:
        yield code.replace('"me"', f'"{user_id}"'), printed


@pytest.fixture
def on_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Settings of the environment lead to the tests' Neo4j and the local model."""
    monkeypatch.setenv("NEO4J_URI", server.uri)
    monkeypatch.setenv("NEO4J_USERNAME", server.username)
    monkeypatch.setenv("NEO4J_PASSWORD", server.password)
    monkeypatch.setenv("KGAGENT_EMBEDDER", "local")
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


async def run(code: str, names: dict[str, Any]) -> None:
    """Run a block as `python -m asyncio` does."""
    running = eval(compile(code, "docs/patterns.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.isawaitable(running):
        await running


@pytest.mark.usefixtures("on_the_server")
async def test_each_example_prints_what_the_page_says(
    repository_root: Path, user_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {}
    told = list(examples(repository_root / "docs" / "patterns.md", user_id))
    try:
        for code, printed in told:
            await run(code, names)
            assert capsys.readouterr().out == printed, code
    finally:
        await names["graph"].close()
    assert any(printed for _, printed in told)
