"""MCP resources: schema, ontology and statistics, each read at the time of the request."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.types import Resource

from kgagent.graph.statements import statement
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.tools.pattern_guide import FURTHER_FIELDS, WORKED_EXAMPLES

MIME_TYPE = "application/json"
Content = dict[str, Any]


@dataclass(frozen=True)
class GraphResource:
    """A resource.

    Attributes:
        name: name, and last part of the URI.
        description: description for the client.
        read: returns the content for one user.
    """

    name: str
    description: str
    read: Callable[[KnowledgeGraph, str], Awaitable[Content]]

    @property
    def uri(self) -> str:
        """The URI."""
        return f"kgagent://{self.name}"

    def definition(self) -> Resource:
        """The definition that MCP lists."""
        return Resource(
            uri=self.uri,
            name=self.name,
            title=self.name.capitalize(),
            description=self.description,
            mime_type=MIME_TYPE,
        )


async def _schema(graph: KnowledgeGraph, _user_id: str) -> Content:
    states = {
        row["name"]: row
        for row in await services_of(graph).store.run_schema(statement("show_index_states"))
    }
    problems = await services_of(graph).schema.problems()
    return {
        "neo4j_version": services_of(graph).store.features.version,
        "embedder": str(graph.embedder),
        "embedding_dimensions": graph.embedder.dimensions,
        "parts": [
            {
                "name": part.name,
                "kind": part.kind,
                "labels_or_types": list(part.covers),
                "properties": list(part.properties),
                **_state(states.get(part.name)),
            }
            for part in services_of(graph).schema.parts
        ],
        "problems": [str(problem) for problem in problems],
    }


def _state(row: Mapping[str, Any] | None) -> Content:
    """The state of an index; None if another index covers it, or none does, which `problems`
    reports.
    """
    if row is None:
        return {"state": None, "population_percent": None}
    return {"state": row["state"], "population_percent": row["populationPercent"]}


async def _ontology(graph: KnowledgeGraph, _user_id: str) -> Content:
    ontology = graph.ontology
    return {
        "labels": {
            label: {
                "same_content_is_same_node": rule.is_deterministic and not rule.key_includes_time,
                "name_can_change": not rule.key_includes_name,
            }
            for label, rule in ontology.labels.items()
        },
        "relationships": {
            neo4j_type: {
                "connects": [{"from": start, "to": end} for start, end in kind.pairs],
                "attitude": list(kind.attitude),
                "proximity": list(kind.proximity),
            }
            for neo4j_type, kind in ontology.relationships.items()
        },
        "note_lifetimes_in_days": dict(ontology.note_lifetimes_in_days),
        "default_note_lifetime": ontology.default_note_lifetime,
    }


async def _patterns(_graph: KnowledgeGraph, _user_id: str) -> Content:
    return {
        "examples": [
            {"question": example.question, "shows": example.shows, "arguments": example.arguments}
            for example in WORKED_EXAMPLES
        ],
        "further_fields": FURTHER_FIELDS,
    }


async def _statistics(graph: KnowledgeGraph, user_id: str) -> Content:
    nodes = await services_of(graph).nodes.count_by_label(user_id)
    relationships = await services_of(graph).relationships.count_by_type(user_id)
    return {
        "nodes": {"total": sum(nodes.values()), "by_label": nodes},
        "relationships": {"total": sum(relationships.values()), "by_type": relationships},
    }


RESOURCES = {
    resource.uri: resource
    for resource in (
        GraphResource(
            "schema", "Constraints and indexes of the database and their state.", _schema
        ),
        GraphResource(
            "ontology",
            "Labels, relationship types, and the words of each type for attitude and proximity "
            "from 1 to 5.",
            _ontology,
        ),
        GraphResource(
            "patterns", "Worked examples of graph patterns, for query_patterns.", _patterns
        ),
        GraphResource(
            "statistics",
            "Number of nodes of each label and of relationships of each type.",
            _statistics,
        ),
    )
}
"""Resources by URI."""
