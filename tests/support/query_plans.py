"""What a query plan of Neo4j reads."""

import re
from collections.abc import Iterator
from typing import Any

from neo4j import Driver

from kgagent import KnowledgeGraph
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.identifiers import Identifier
from kgagent.graph.parameter_map import with_parameter_map
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import NODE_EMBEDDING, Fragment, statement
from kgagent.knowledge_graph import services_of
from kgagent.search.vectors import RANKING_FIELDS


def reads_of(name: str, graph: KnowledgeGraph, driver: Driver, lock: str = "_no_lock") -> list[str]:
    """What the seeks and scans of a statement of the package read, as Neo4j plans it for a graph's
    labels and types.
    """
    label = Identifier(next(iter(graph.ontology.labels)))
    text = statement(
        name,
        **{
            **services_of(graph).relationships.names,
            **DELETED_NAMES,
            "label": label,
            "owner": label,
            "relationship": RANKING_FIELDS,
        },
        lock=Fragment(lock),
    ).replace(f"«{NODE_EMBEDDING}»", "embedding")
    language = services_of(graph).store.features.language
    plan = driver.execute_query(
        with_parameter_map(text, f"{language}EXPLAIN "),
        user_id="user 1",
        p={"index": NODE_TEXT_INDEX},
    ).summary.plan
    assert plan is not None
    return list(details_of(plan))


def details_of(plan: dict[str, Any]) -> Iterator[str]:
    """What the seeks and scans of a plan read."""
    if re.search("Scan|Seek", plan["operatorType"]):
        yield f"{plan['operatorType']} {plan['args'].get('Details', '')}"
    for child in plan.get("children", ()):
        yield from details_of(child)
