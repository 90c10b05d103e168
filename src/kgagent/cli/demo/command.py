"""kgagent demo: loads a sample graph and shows what relationship search adds."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.graph_session import run_with_graph
from kgagent.cli.options import Json
from kgagent.cli.output import show
from kgagent.cli.program_name import program_name
from kgagent.errors import SchemaError

if TYPE_CHECKING:
    from kgagent.cli.demo.comparison import DemoResult
    from kgagent.settings import Settings


def demo(
    *,
    keep: Annotated[
        bool, typer.Option(help="Whether a local Neo4j that the demo starts keeps running afterwards.")
    ] = True,
    json: Json = False,
) -> None:
    """Load a sample graph, ask five questions, and show what relationship search adds to the results.

    It uses the Neo4j of NEO4J_URI, or else starts the local Neo4j, and works as its own user, kgagent-demo.
    """
    from kgagent.cli.demo.view import next_steps, result_view
    from kgagent.local import LocalNeo4j
    from kgagent.settings import load_settings

    settings = load_settings()
    local = None if settings.neo4j_uri else LocalNeo4j.from_settings(settings)
    stops_server = local is not None and not keep and not local.status().running
    try:
        result = _run(settings)
    finally:
        if local is not None and stops_server:
            local.down()
    is_running = local is not None and not stops_server
    steps = next_steps(is_local=is_running, program=program_name(sys.argv[0]))
    show(result.to_dict(), *result_view(result), steps, json=json)


def _run(settings: "Settings") -> "DemoResult":
    from kgagent.cli.demo.comparison import run_demo

    try:
        return run_with_graph(run_demo, settings=settings)
    except SchemaError as error:
        raise SchemaError(
            f"{error}. Or give the demo a graph of its own: KGAGENT_HOME=./kgagent-demo kgagent demo, without NEO4J_URI"
        ) from error
