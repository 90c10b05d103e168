"""kgagent demo: loads a sample graph and shows what relationship search adds."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json
from kgagent.cli.program_name import program_name

if TYPE_CHECKING:
    from kgagent.cli.demo.run import DemoResult
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
    from kgagent.cli.output import print_json, print_result
    from kgagent.settings import load_settings

    settings = load_settings()
    is_local = settings.neo4j_uri is None
    stops_server = is_local and not keep and not _is_server_running(settings)
    try:
        result = _run(settings)
    finally:
        if stops_server:
            _stop_server(settings)
    if json:
        print_json(result.to_dict())
        return
    from kgagent.cli.demo.view import next_steps, result_view

    steps = next_steps(is_local=is_local and not stops_server, program=program_name(sys.argv[0]))
    print_result(*result_view(result), steps)


def _run(settings: "Settings") -> "DemoResult":
    from kgagent.cli.demo.run import run_demo
    from kgagent.cli.graph_session import run_with_graph
    from kgagent.errors import SchemaError

    try:
        return run_with_graph(run_demo, settings=settings)
    except SchemaError as error:
        raise SchemaError(
            f"{error}. Or give the demo a graph of its own: KGAGENT_HOME=./kgagent-demo kgagent demo, without NEO4J_URI"
        ) from error


def _is_server_running(settings: "Settings") -> bool:
    from kgagent.local import LocalNeo4j

    return LocalNeo4j.from_settings(settings).status().running


def _stop_server(settings: "Settings") -> None:
    from kgagent.local import LocalNeo4j

    LocalNeo4j.from_settings(settings).down()
