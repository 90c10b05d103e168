"""The command line on the tests' Neo4j."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kgagent.cli.app import app
from kgagent.cli.output import message_console, result_console
from tests.conftest import Server

PROGRAM = (sys.executable, "-c", "from kgagent.cli.program import main; main()")


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def payload(self) -> dict[str, Any]:
        """Its stdout, which must be one JSON object."""
        decoded = json.loads(self.out)
        assert isinstance(decoded, dict)
        return decoded


Kgagent = Callable[..., Done]


@pytest.fixture
def bare_environment() -> dict[str, str]:
    """The environment without any setting of kgagent's but where downloaded files are."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("NEO4J_", "OPENAI_", "KGAGENT_")) or key == "KGAGENT_CACHE"
    } | {"COLUMNS": "100"}


@pytest.fixture
def environment(bare_environment: dict[str, str], server: Server, user_id: str) -> dict[str, str]:
    """Settings that lead to the tests' Neo4j, the local model and the test's user."""
    return {
        **bare_environment,
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "KGAGENT_EMBEDDER": "local",
        "KGAGENT_USER_ID": user_id,
    }


@pytest.fixture
def program(environment: dict[str, str], tmp_path: Path) -> Kgagent:
    """Runs a command as a program of its own, to its end."""

    def run(
        *arguments: str, settings: Mapping[str, str] | None = None, given: str | None = None
    ) -> Done:
        done = subprocess.run(
            [*PROGRAM, *arguments],
            input=given,
            env=environment if settings is None else dict(settings),
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def kgagent(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Kgagent:
    """Runs a command inside the process of the tests, which is quicker."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, settings: Mapping[str, str] | None = None) -> Done:
        chosen = environment if settings is None else settings
        omitted = dict.fromkeys(os.environ.keys() - chosen.keys())
        # A console keeps the width of the environment in which it was created.
        result_console.cache_clear()
        message_console.cache_clear()
        done = CliRunner().invoke(app, arguments, env={**omitted, **chosen}, catch_exceptions=False)
        return Done(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A small file: a mentor whose node says nothing of it."""
    lines = [
        {
            "kind": "node",
            "label": "Person",
            "id": "ines",
            "name": "Ines Halloran",
            "properties": {"is_owner": True},
        },
        {
            "kind": "node",
            "label": "Person",
            "id": "ruth",
            "name": "Ruth Adeyemi",
            "description": "Keeps bees.",
        },
        {"kind": "node", "label": "Concept", "id": "debt", "name": "Debt"},
        {
            **{"kind": "relationship", "from": "ruth", "to": "ines", "relationship_type": "mentor"},
            **{"description": "Ruth is the mentor who guides Ines in her career.", "attitude": 5},
        },
    ]
    path = tmp_path / "family.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    return path
