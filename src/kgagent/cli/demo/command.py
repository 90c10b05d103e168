"""kgagent demo: loads a sample graph and shows what relationship search adds."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from kgagent.cli.graph_session import run_with_graph
from kgagent.cli.output import print_result
from kgagent.errors import SchemaError


def demo(
    *,
    keep: Annotated[
        bool,
        typer.Option(help="Whether a local Neo4j that the demo starts keeps running afterwards."),
    ] = True,
) -> None:
    """Load a sample graph, ask five questions, and show what relationship search adds to the
    results.

    It uses the Neo4j of NEO4J_URI, or else starts the local Neo4j, and works as its own user,
    kgagent-demo.
    """
    from kgagent.cli.demo.comparison import USER, run_demo
    from kgagent.cli.demo.view import result_view
    from kgagent.local import LocalNeo4j
    from kgagent.settings import load_settings

    settings = load_settings()
    local = None if settings.neo4j_uri else LocalNeo4j.from_settings(settings)
    stops_server = local is not None and not keep and not local.status().running
    try:
        result = run_with_graph(run_demo, settings=settings)
    except SchemaError as error:
        raise SchemaError(
            f"{error}. Or give the demo a graph of its own: KGAGENT_HOME=./kgagent-demo kgagent "
            f"demo, without NEO4J_URI"
        ) from error
    finally:
        if local is not None and stops_server:
            local.down()
    # A program in a virtual environment may not be on the PATH.
    is_named = Path(sys.argv[0]).stem != "kgagent" or shutil.which("kgagent") is not None
    program = "kgagent" if is_named else shlex.quote(sys.argv[0])

    def step(command: str, purpose: str) -> Text:
        return Text.assemble("  ", (f"{program} {command}", "cyan"), f"  {purpose}")

    steps = [
        Text("Next", style="bold"),
        step(f'explore "who helped Fred with his debt?" --user {USER}', "ask something else"),
        step(f"view --user {USER}", "search and view it on a page"),
        step("load FILE.jsonl", "load your own graph"),
    ]
    if local is not None and not stops_server:
        steps.append(step("down", "stop the local Neo4j, which keeps running"))
    print_result(*result_view(result), *steps)
