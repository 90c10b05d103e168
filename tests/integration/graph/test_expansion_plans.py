"""A statement that follows relationships from nodes reads those of the nodes, however few a type
has.
"""

import re

import pytest
from neo4j import Driver

from kgagent import KnowledgeGraph
from kgagent.graph.statements import statement_files
from tests.support.query_plans import reads_of

pytestmark = [pytest.mark.neo4j_5, pytest.mark.schema]

_FOLLOWS = re.compile(r"\)-\[\w*:«types»\]-\(|«_steps»|«_surroundings»|«_breadth_first_level»")

EXPANDING = sorted(
    name
    for name, path in statement_files().items()
    if not name.startswith("_") and _FOLLOWS.search(path.read_text("utf-8"))
)


def test_there_are_statements_that_follow_relationships() -> None:
    assert {"expand_hop", "expand_around"} <= set(EXPANDING)


@pytest.mark.parametrize("name", EXPANDING)
async def test_no_index_of_relationships_is_read(
    own: KnowledgeGraph, driver: Driver, name: str
) -> None:
    # Of an index without entries, the planner expects that reading it costs nothing.
    assert not [
        details for details in reads_of(name, own, driver) if "RelationshipIndex" in details
    ]
