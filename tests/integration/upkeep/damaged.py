"""A healthy graph, ways to damage it, and its diagnosis."""

from typing import Any

from kgagent import KnowledgeGraph
from kgagent.upkeep.diagnosis import Diagnosis, Finding
from tests.support.own_ontology import names
from tests.support.people import node, relate
from tests.support.stored import cypher

USER = "patient"


async def healthy(graph: KnowledgeGraph, user_id: str = USER) -> None:
    """Three people in a chain, and a topic that the first likes; all written by the tools."""
    tools = graph.tools(user_id=user_id)
    person, topic = graph.ontology.labels
    people = [
        await node(tools, person, name, f"{name} of {user_id}") for name in ("Ada", "Bo", "Cy")
    ]
    await relate(tools, people[0], people[1], description="They row", attitude=4, proximity=2)
    await relate(tools, people[1], people[2], description="They sing", notes=["In a choir"])
    await relate(tools, people[0], await node(tools, topic, "Sailing"), "sails")


async def damage(graph: KnowledgeGraph, statement: str, **parameters: Any) -> None:
    """Change the graph with plain Cypher; `<knows>` stands for the graph's own name of that
    type.
    """
    for name, quoted in names(graph.ontology).items():
        statement = statement.replace(f"<{name}>", quoted)
    await cypher(graph, statement, **parameters)


def problems(diagnosis: Diagnosis) -> list[Finding]:
    """Errors and warnings; that the server is old is only an info."""
    return [finding for finding in diagnosis.findings if finding.severity != "info"]


def messages(diagnosis: Diagnosis) -> list[str]:
    """Severity and message of each problem, without the example."""
    return [
        f"{finding.severity}: {finding.message.partition(', such as')[0]}"
        for finding in problems(diagnosis)
    ]
