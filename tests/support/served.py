"""Runs `kgagent` as a separate program on the tests' Neo4j."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.shared_server import Server

CLI = "from kgagent.cli.app import main; main()"
"""What `python -c` runs as the command line."""

LONGEST = 120.0
"""Seconds after which a program that does not end fails its test."""


def settings_for(server: Server, user_id: str | None = None) -> dict[str, str]:
    """The environment, with settings that lead to the tests' Neo4j, the local model and, where one
    is given, a user.
    """
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("NEO4J_", "OPENAI_"))
    }
    user = {"KGAGENT_USER_ID": user_id} if user_id else {}
    return (
        inherited
        | user
        | {
            "NEO4J_URI": server.uri,
            "NEO4J_USERNAME": server.username,
            "NEO4J_PASSWORD": server.password,
            "KGAGENT_EMBEDDER": "local",
        }
    )


def run_python(
    settings: Mapping[str, str], folder: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments in a folder, to its end."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=dict(settings),
        timeout=LONGEST,
        check=False,
    )


def run_well(server: Server, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments on the tests' Neo4j, with the local model; it must end without an
    error.
    """
    done = run_python(settings_for(server), folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done
