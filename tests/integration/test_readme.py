"""The README's examples, run as they stand."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Server
from tests.support.served import CLI, run_well

Run = Callable[..., str]


def blocks(root: Path, language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", (root / "README.md").read_text("utf-8"), re.DOTALL)


@pytest.fixture
def run(server: Server, tmp_path: Path) -> Run:
    """Runs Python with arguments on the tests' Neo4j, with the local model, and gives what it prints."""

    def one(*arguments: str) -> str:
        return run_well(server, tmp_path, *arguments).stdout

    return one


def test_the_examples_in_python_find_the_mentor(repository_root: Path, run: Run, user_id: str) -> None:
    first, *others = [block.replace('"me"', f'"{user_id}"') for block in blocks(repository_root, "python")]
    for _ in range(2):
        assert run("-c", first) == "['Ruth Calder']\n"
    each = f"for block in {others!r}:\n    exec(block, {{'__name__': '__main__'}})\n    print('\\f')"
    # Each example has its own names; a process of its own would only repeat the imports.
    searched, ranked, matched, explored, _ = run("-c", each).split("\f")
    assert "Ruth Calder (Person) -[mentor]-> Ines Halloran" in ranked
    assert re.search(r"0\.\d\d Ruth Calder -\[mentor\]- Ines Halloran", searched)
    assert "Ruth Calder -[has_relationship_with: mentor]-> Ines Halloran  HYBRID" in matched
    assert "Ruth Calder (Person " in explored


def test_the_example_of_a_file_loads(repository_root: Path, run: Run, user_id: str, tmp_path: Path) -> None:
    [example] = blocks(repository_root, "json")
    file = tmp_path / "people.jsonl"
    file.write_text(example, "utf-8")
    run("-c", CLI, "load", str(file), "--user", user_id)
    assert "Ruth Calder" in run("-c", CLI, "explore", "who is my mentor?", "--user", user_id)
