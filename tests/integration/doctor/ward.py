"""A healthy graph to be damaged, and what the doctor says of it."""

from typing import Any

from kgagent import KnowledgeGraph
from kgagent.doctor import Diagnosis, Finding, examine
from kgagent.knowledge_graph import services_of
from tests.support.own_ontology import names
from tests.support.people import node, relate
from tests.support.stored import cypher

USER = "patient"


async def healthy(graph: KnowledgeGraph, user_id: str = USER) -> None:
    """Three people in a chain, and a topic that the first likes; all written by the tools."""
    tools = graph.tools(user_id=user_id)
    person, topic = graph.ontology.labels
    people = [await node(tools, person, name, f"{name} of {user_id}") for name in ("Ada", "Bo", "Cy")]
    await relate(tools, people[0], people[1], description="They row", attitude=4, proximity=2)
    await relate(tools, people[1], people[2], description="They sing", notes=["In a choir"])
    await relate(tools, people[0], await node(tools, topic, "Sailing"), "sails")


async def damage(graph: KnowledgeGraph, statement: str, **parameters: Any) -> None:
    """Change the graph with plain Cypher; `<knows>` and the like stand for its labels and types."""
    for name, quoted in names(graph.ontology).items():
        statement = statement.replace(f"<{name}>", quoted)
    await cypher(graph, statement, **parameters)


async def diagnose(graph: KnowledgeGraph, user_id: str | None = None, **options: Any) -> Diagnosis:
    """Examine a graph."""
    return await examine(
        schema=services_of(graph).schema,
        nodes=services_of(graph).nodes,
        relationships=services_of(graph).relationships,
        embedder=graph.embedder,
        clock=services_of(graph).write_context.clock,
        user_id=user_id,
        **options,
    )


def wrong(diagnosis: Diagnosis) -> list[Finding]:
    """The findings that something is to be done about; an older server is only told of."""
    return [finding for finding in diagnosis.findings if finding.severity != "info"]


def told(diagnosis: Diagnosis) -> list[str]:
    """Severity and sentence of each of those, examples left out."""
    return [f"{finding.severity}: {finding.what.partition(', such as')[0]}" for finding in wrong(diagnosis)]
