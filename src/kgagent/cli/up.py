"""kgagent up: start the local Neo4j."""

from kgagent.cli.options import Json, ShowPassword


def up(*, json: Json = False, show_password: ShowPassword = False) -> None:
    """Start the local Neo4j; the first time, download it. Where it runs already, say where."""
    from kgagent.cli.output import emit, show
    from kgagent.cli.progress import RichProgress
    from kgagent.cli.server_facts import facts_table, server_facts
    from kgagent.local import LocalNeo4j
    from kgagent.settings import load_settings

    info = LocalNeo4j.from_settings(load_settings()).up(RichProgress())
    facts = server_facts(info, show_password=show_password)
    if json:
        emit({"running": True, **facts})
        return
    show("[green]Neo4j is up.[/green] `kgagent down` ends it.", facts_table(facts))
