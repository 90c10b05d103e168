"""Entries of the index of statements that are of another user, or of a record that is no longer so,
reach no answer.
"""

import pytest

from kgagent import KnowledgeGraph
from tests.support.payloads import succeeded
from tests.support.people import person, relate
from tests.support.stored import cypher

pytestmark = pytest.mark.neo4j_5

NOTE = "Zqota keeps bees on the roof"


async def plant(graph: KnowledgeGraph, user_id: str, note: str) -> None:
    """Ada and Bo; Bo and the relationship between them have a note."""
    tools = graph.tools(user_id=user_id)
    await relate(
        tools, await person(tools, "Ada"), await person(tools, "Bo", notes=[note]), notes=[note]
    )


async def answer(graph: KnowledgeGraph, user_id: str) -> str:
    """The answer to a question that the note matches best."""
    answer = str(
        succeeded(await graph.tools(user_id=user_id).hybrid_search(query=NOTE, threshold=-1.0))
    )
    assert "Skipped" not in answer
    return answer


async def test_statements_of_another_user_are_never_found(
    searched: KnowledgeGraph, user_id: str
) -> None:
    other_id = f"{user_id}-other"
    await plant(searched, user_id, "Keeps cats")
    await plant(searched, other_id, NOTE)
    before = await answer(searched, user_id)
    assert "Keeps cats" in before
    assert "Zqota" not in before
    # Another program gives the user entries of records that are not the user's.
    await cypher(
        searched,
        "MATCH (entry:KgagentStatement {user_id: $other}) SET entry.user_id = $user",
        user=user_id,
        other=other_id,
    )
    assert await answer(searched, user_id) == before


@pytest.mark.parametrize(
    "change",
    [
        "MATCH (n:Person {user_id: $user, name: 'Bo'}) DETACH DELETE n",
        "MATCH (n:Person {user_id: $user, name: 'Bo'})-[r]-() SET n.user_id = $user + '-other', "
        "r.user_id = n.user_id",
        "MATCH (n:Person {user_id: $user, name: 'Bo'})-[r]-() SET n.notes = null, r.notes = '[]'",
        "MATCH (n:Person {user_id: $user, name: 'Bo'})-[r]-() SET n.notes = 'no JSON', r.notes = 7",
    ],
)
async def test_a_statement_that_its_record_no_longer_has_is_not_shown(
    searched: KnowledgeGraph, user_id: str, change: str
) -> None:
    await plant(searched, user_id, NOTE)
    assert NOTE in await answer(searched, user_id)
    await cypher(searched, change, user=user_id)
    assert "Zqota" not in await answer(searched, user_id)
