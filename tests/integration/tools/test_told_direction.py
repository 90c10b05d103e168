"""A relationship whose creator named its ends in the reverse of the canonical order."""

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.people import node, person, relate


async def test_searches_tell_it_as_it_was_told(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    bread, ada = await node(tools, "Concept", "Bread"), await person(tools, "Ada")
    await relate(tools, bread, ada, "baked by")
    [match] = await graph.retrieval.relationship_vector_search("baked by", 0.2, user_id)
    assert (match.from_name, match.relationship_type, match.to_name) == ("Bread", "baked by", "Ada")
    answer = await tools.explore(queries=["baked by"])
    assert [(edge["from_name"], edge["to_name"]) for edge in answer["edges"]] == [("Bread", "Ada")]


async def test_it_is_answered_as_asked(tools: Toolset) -> None:
    bread, ada = await node(tools, "Concept", "Bread"), await person(tools, "Ada")
    await relate(tools, bread, ada, "baked by")
    for ends in ((bread, ada), (ada, bread)):
        answer = await tools.get_relationship(from_entity_key=ends[0], to_entity_key=ends[1])
        told = answer["relationship"]
        assert (told["from_entity_key"], told["to_entity_key"]) == ends
