"""The examples of `docs/observability.md`, run as they stand."""

import re
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from tests.conftest import Server
from tests.support.served import run_well


def blocks(root: Path, language: str) -> list[str]:
    text = (root / "docs" / "observability.md").read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def examples(repository_root: Path, user_id: str) -> list[str]:
    return [block.replace('"me"', f'"{user_id}"') for block in blocks(repository_root, "python")]


def test_the_example_of_spans_prints_a_tool_and_what_it_does(
    examples: list[str], server: Server, tmp_path: Path
) -> None:
    names = run_well(server, tmp_path, "-c", examples[0]).stdout.split("\n")
    assert names.index("search explore") < names.index("execute_tool explore")
    assert any(name.startswith("embeddings ") for name in names)


def test_the_example_of_a_recorder_counts_statements(
    examples: list[str], server: Server, tmp_path: Path
) -> None:
    assert run_well(server, tmp_path, "-c", examples[1]).stdout.split("]")[1].strip() == "1"


def test_the_statement_about_transactions_runs(repository_root: Path, server: Server) -> None:
    [statement] = blocks(repository_root, "cypher")
    with GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        assert driver.execute_query(statement).keys == ["tool", "statement", "elapsedTime"]
