"""kgagent init: make constraints and indexes."""

from typing import TYPE_CHECKING, Any

from kgagent.cli.options import Json

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph


def init(*, json: Json = False) -> None:
    """Make the constraints and indexes that are missing; safe to run again, and from several places at once."""
    from kgagent.cli.graph import with_graph
    from kgagent.cli.output import emit, show
    from kgagent.settings import load_settings

    facts = with_graph(_facts, settings=load_settings())
    if json:
        emit(facts)
    else:
        show(
            f"[green]{len(facts['parts'])} constraints and indexes are online[/green] at {facts['uri']} "
            f"(Neo4j {facts['version']}), for {facts['embedder']}."
        )


async def _facts(graph: "KnowledgeGraph") -> dict[str, Any]:
    from kgagent.knowledge_graph import services_of

    services = services_of(graph)
    return {
        "uri": services.store.uri,
        "version": services.store.features.version,
        "embedder": str(graph.embedder),
        "parts": [part.name for part in services.schema.parts],
    }
