import subprocess
import sys

import pytest

PROGRAM = """
import sys
from kgagent.cli.app import main

for arguments in (["mcp"], ["mcp", "--http"]):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as ended:
        print(ended.code)
"""
MISSING = "import sys; sys.modules['mcp'] = None; "
TOO_OLD = "import mcp.server; del mcp.server.ServerRequestContext; "
HEAVY = ("mcp", "starlette", "uvicorn")


@pytest.mark.parametrize("fault", [MISSING, TOO_OLD])
def test_without_the_extra_the_command_says_what_to_install(fault: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", fault + PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "1\n1\n", 2)
    for said in done.stderr.splitlines():
        assert said.startswith("The MCP server needs the package mcp")
        assert said.endswith('pip install "kgagent[mcp]"')


def test_nothing_of_it_is_imported_before_it_is_used() -> None:
    code = f"import sys, kgagent.cli.app, kgagent.knowledge_graph; print([n for n in {HEAVY} if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
