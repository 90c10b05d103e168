"""The command."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.called import called
from kgagent.cli.options import Json

if TYPE_CHECKING:
    from kgagent.cli.demo.run import Outcome
    from kgagent.settings import Settings


def demo(
    *,
    keep: Annotated[bool, typer.Option(help="Whether a local Neo4j that the demo starts stays up afterwards.")] = True,
    json: Json = False,
) -> None:
    """Load a sample graph, ask it five questions, and show what relationship search adds to the answers.

    It starts the local Neo4j, or uses that of NEO4J_URI, and works as a user of its own, kgagent-demo.
    """
    from kgagent.cli.output import emit, show
    from kgagent.settings import load_settings

    settings = load_settings()
    is_local = settings.neo4j_uri is None
    ends_server = is_local and not keep and not _runs(settings)
    try:
        outcome = _outcome(settings)
    finally:
        if ends_server:
            _end(settings)
    if json:
        emit(outcome.to_dict())
        return
    from kgagent.cli.demo.view import next_steps, outcome_view

    steps = next_steps(is_local=is_local and not ends_server, program=called(sys.argv[0]))
    show(*outcome_view(outcome), steps)


def _outcome(settings: "Settings") -> "Outcome":
    from kgagent.cli.demo.run import run_demo
    from kgagent.cli.graph import with_graph
    from kgagent.errors import SchemaError

    try:
        return with_graph(run_demo, settings=settings)
    except SchemaError as error:
        raise SchemaError(
            f"{error}. Or give the demo a graph of its own: KGAGENT_HOME=./kgagent-demo kgagent demo, without NEO4J_URI"
        ) from error


def _runs(settings: "Settings") -> bool:
    from kgagent.local import LocalNeo4j

    return LocalNeo4j.from_settings(settings).status().running


def _end(settings: "Settings") -> None:
    from kgagent.local import LocalNeo4j

    LocalNeo4j.from_settings(settings).down()
