"""A call of a user who may read the records of others finds theirs, says whose they are, and
finds nothing of anybody else; it writes what is the user's own.
"""

import json
import random
import re
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.stored import all_of, cypher

pytestmark = pytest.mark.neo4j_5

OWNERS = ("me", "team", "stranger")
CANARIES = {"me": "quokka", "team": "wombat", "stranger": "numbat"}
TIMES: tuple[dict[str, str], ...] = ({}, {"as_of": "2024-05"})
STEP = {"source_label": "Person", "relation_type": "engages_with", "target_label": "Concept"}


async def boat(tools: Toolset, canary: str) -> None:
    """A small graph, whose every text has a word that no other owner's has."""
    succeeded(
        await tools.remember(
            nodes=[
                {
                    "label": "Person",
                    "name": f"Ada {canary}",
                    "aliases": [f"Skipper {canary}"],
                    "description": f"Sails the {canary} boat",
                    "is_owner": canary == CANARIES["me"],
                },
                {"label": "Person", "name": f"Bo {canary}", "notes": [f"Bo sails a {canary}"]},
                {"label": "Concept", "name": "Sailing", "description": f"Sport of {canary}"},
            ],
            relationships=[
                {
                    "from": f"Ada {canary}",
                    "to": "Sailing",
                    "relationship_type": f"sails {canary}",
                    "when": "2024",
                    "description": f"Ada sails every {canary}",
                    "notes": [f"Won the {canary} cup in sailing"],
                },
                {
                    "from": f"Ada {canary}",
                    "to": f"Bo {canary}",
                    "relationship_type": "mentor",
                    "description": f"They met at the {canary}",
                },
            ],
            source=f"Log {canary}",
            source_text=f"The {canary} log of sailing: Ada {canary} sailed home.",
        )
    )


@pytest.fixture
async def owners(searched: KnowledgeGraph, user_id: str) -> dict[str, str]:
    """The user ids of the three owners, whose graphs have the same shape."""
    ids = {owner: f"{user_id}-{owner}" for owner in OWNERS}
    for owner, canary in CANARIES.items():
        await boat(searched.tools(user_id=ids[owner]), canary)
    return ids


def calls(about: str) -> list[tuple[str, dict[str, Any]]]:
    """Calls of all tools that read, about one owner's records."""
    ada = f"Ada {about}"
    return [
        *(("hybrid_search", {"query": f"who sails {about}?", **time}) for time in TIMES),
        ("hybrid_search", {"query": "sailing", "relationship_types": [f"sails {about}"]}),
        ("explore", {"queries": [{"query": "sailing boat", "threshold": -1.0}]}),
        ("explore", {"text_matches": [about, "Sailing", "me"]}),
        ("get_relationship", {"from_entity_key": ada}),
        ("get_relationship", {"from_entity_key": ada, "between": "2024"}),
        ("get_relationship", {"from_entity_key": ada, "to_entity_key": f"Bo {about}"}),
        ("get_relationship", {"from_entity_key": "Sailing"}),
        ("traverse", {"entity_key": f"Skipper {about}", "hops": 2}),
        ("find_paths", {"from_entity_key": f"Bo {about}", "to_entity_key": ada}),
        ("find_duplicates", {"threshold": 0.1}),
        ("read_source", {"entity_key": f"Log {about}"}),
        ("describe_graph", {}),
        ("query_patterns", {"query": f"who sails {about}?", "patterns": [{"steps": [STEP]}]}),
        ("query_patterns", {"targets": [{"description": ada}], "traversal": {"max_depth": 1}}),
    ]


async def test_nothing_of_an_owner_that_was_not_given_is_ever_in_an_answer(
    searched: KnowledgeGraph, owners: dict[str, str]
) -> None:
    chance, seen = random.Random(46), dict.fromkeys(OWNERS, 0)
    for user in OWNERS:
        given = {user, *chance.sample(OWNERS, chance.randint(1, 2))}
        readable = [owners[owner] for owner in given - {user}]
        tools = searched.tools(user_id=owners[user], readable=readable)
        about = CANARIES[chance.choice(OWNERS)]
        for name, arguments in calls(about):
            answer = await tools[name].call_text({**arguments, "token_budget": 20_000})
            said = f"{answer.text}\n{json.dumps(answer.payload)}".lower()
            for owner, canary in CANARIES.items():
                if owner in given:
                    seen[owner] += canary in said
                elif canary != about:
                    assert canary not in said, (given, name, arguments, said)
                else:
                    # The call itself has the word, so the texts around it must be missing.
                    for text in (f"sport of {canary}", f"the {canary} boat", f"{canary} cup"):
                        assert text not in said, (given, name, arguments, said)
        filters: tuple[dict[str, Any], ...] = (
            {},
            {"as_of": "2024-05"},
            {"known_as_of": "2100"},
            {"min_trust": "own"},
        )
        for more in filters:
            found = await searched.search(
                "sailing", user_id=owners[user], readable=readable, limit=50, **more
            )
            assert {one.owner for one in found.items} == {None, *readable}, more
    assert min(seen.values()) > 5


async def test_an_answer_says_what_is_not_the_users_own(
    searched: KnowledgeGraph, owners: dict[str, str]
) -> None:
    team = owners["team"]
    tools = searched.tools(user_id=owners["me"], readable=[team])
    for name, arguments in calls("wombat"):
        if name in {"find_duplicates", "describe_graph"}:
            continue
        text = (await tools[name].call_text({**arguments, "token_budget": 20_000})).text
        assert not ("wombat" in text and f"of {team}" not in text), (name, arguments, text)
    own = succeeded(await tools.get_relationship(from_entity_key="Ada quokka"))
    theirs = succeeded(await tools.get_relationship(from_entity_key="Ada wombat"))
    assert "owner" not in json.dumps(own).replace("is_owner", "")
    assert theirs["node"]["owner"] == team
    assert {one["owner"] for one in theirs["relationships"]} == {team}


async def test_a_name_of_both_means_the_users_own_and_me_is_the_user(
    searched: KnowledgeGraph, owners: dict[str, str]
) -> None:
    tools = searched.tools(user_id=owners["me"], readable=[owners["team"]])
    sailing = succeeded(await tools.get_relationship(from_entity_key="Sailing"))
    assert sailing["node"]["description"] == "Sport of quokka"
    me = succeeded(await tools.get_relationship(from_entity_key="me"))
    assert me["node"]["name"] == "Ada quokka"


async def test_what_another_owner_has_cannot_be_written(
    searched: KnowledgeGraph, owners: dict[str, str]
) -> None:
    tools = searched.tools(user_id=owners["me"], readable=[owners["team"]])
    before = await all_of(searched, owners["team"])
    theirs = succeeded(await tools.get_relationship(from_entity_key="Ada wombat"))["node"]
    for reference in ("Ada wombat", theirs["entity_key"]):
        assert "Node not found" in error_of(
            await tools.update_node(entity_key=reference, description="Mine")
        )
        assert "not found" in error_of(
            await tools.create_relationship(
                from_entity_key=reference, to_entity_key="Sailing", relationship_type="x"
            )
        )
    succeeded(await tools.update_node(entity_key="Sailing", description="Changed"))
    assert await all_of(searched, owners["team"]) == before


async def test_a_relationship_that_joins_two_owners_belongs_to_none(
    searched: KnowledgeGraph, owners: dict[str, str]
) -> None:
    await cypher(
        searched,
        "MATCH (a:Person {user_id: $me}), (b:Person {user_id: $team}) "
        "WHERE a.name = 'Ada quokka' AND b.name = 'Ada wombat' "
        "CREATE (a)-[:has_relationship_with {user_id: $me, relationship_type: 'joined'}]->(b)",
        **owners,
    )
    tools = searched.tools(user_id=owners["me"], readable=[owners["team"]])
    for name, arguments in (
        ("traverse", {"entity_key": "Ada quokka"}),
        ("find_paths", {"from_entity_key": "Ada quokka", "to_entity_key": "Ada wombat"}),
        ("hybrid_search", {"query": "who joined Ada wombat?"}),
        (
            "query_patterns",
            {
                "patterns": [
                    {
                        "steps": [
                            {
                                **STEP,
                                "relation_type": "has_relationship_with",
                                "target_label": "Person",
                            }
                        ]
                    }
                ]
            },
        ),
    ):
        said = (await tools[name].call_text({**arguments, "token_budget": 20_000})).text
        assert "[joined]" not in said, said


async def test_a_cursor_made_with_more_owners_is_refused(
    searched: KnowledgeGraph, owners: dict[str, str]
) -> None:
    both = searched.tools(user_id=owners["me"], readable=[owners["team"]])
    asked = {"queries": [{"query": "sailing", "threshold": -1.0}], "token_budget": 100}
    found = re.search(r'cursor "([^"]+)"', (await both.explore.call_text(asked)).text)
    assert found is not None
    continued = {**asked, "cursor": found[1]}
    assert (await both.explore.call_text(continued)).payload["success"] is True
    alone = searched.tools(user_id=owners["me"])
    refused = (await alone.explore.call_text(continued)).text
    assert "does not belong to these arguments" in refused


@pytest.mark.parametrize(
    ("readable", "problem"),
    [("team", "readable must be a list"), ([" "], "must not be empty"), ([None], "must be text")],
)
async def test_readable_is_a_list_of_user_ids(
    graph: KnowledgeGraph, user_id: str, readable: Any, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        graph.tools(user_id=user_id, readable=readable)
