import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from kgagent.cli.app import app

COMMANDS = (
    "up",
    "down",
    "status",
    "init",
    "load",
    "search",
    "explore",
    "migrate",
    "restore",
    "doctor",
)
FOR_PEOPLE_OR_CLIENTS = ("demo", "mcp", "view")
HEAVY = (
    "neo4j",
    "openai",
    "langchain_core",
    "pydantic",
    "onnxruntime",
    "tokenizers",
    "jgo",
    "numpy",
)


def test_every_command_has_help() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert all(command in result.stdout for command in COMMANDS + FOR_PEOPLE_OR_CLIENTS)
    for command in COMMANDS + FOR_PEOPLE_OR_CLIENTS:
        result = CliRunner().invoke(app, [command, "--help"])
        assert (result.exit_code, "--json" in result.stdout) == (
            0,
            command not in FOR_PEOPLE_OR_CLIENTS,
        )


@pytest.mark.parametrize(
    "arguments",
    [
        ["nope"],
        ["load", "/no/such/file.jsonl"],
        ["search", " "],
        ["search", "x", "--strategy", "best"],
        ["explore"],
        ["explore", "x", "--threshold", "2"],
        ["migrate", "--batch-size", "0"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (["--token-budget", "abc"], "must be a whole number, got 'abc'|'abc' is not a valid int"),
        (["--threshold", "high"], "must be a number, got 'high'|'high' is not a valid float"),
    ],
)
def test_an_option_of_the_wrong_type_is_explained(option: list[str], expected: str) -> None:
    """Before 0.29, typer explains it itself."""
    result = CliRunner().invoke(app, ["search", "x", *option], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert re.search(f"'{option[0]}': ({expected})", result.stderr)


@pytest.mark.parametrize("arguments", [["--version"], ["search"]])
def test_a_reader_that_closes_the_pipe_ends_the_program_silently(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "from kgagent.cli.app import main; main()"
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            stdout=closed,
            stderr=closed if arguments == ["search"] else subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stderr or b"") == (141, b"")


def test_help_imports_nothing_heavy() -> None:
    code = f"import sys, kgagent.cli.app; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
