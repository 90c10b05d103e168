"""kgagent down: end the local Neo4j."""

from kgagent.cli.options import Json


def down(*, json: Json = False) -> None:
    """End the local Neo4j; its data stays."""
    from kgagent.cli.output import emit, show
    from kgagent.local import LocalNeo4j
    from kgagent.settings import load_settings

    stopped = LocalNeo4j.from_settings(load_settings()).down()
    if json:
        emit({"stopped": stopped})
    else:
        show("Neo4j is down; its data stays." if stopped else "The local Neo4j was not running.")
