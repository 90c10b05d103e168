from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import WHERE_KEYS_ARE, error_of, succeeded
from tests.support.people import node, person, persons, relate, two_friends
from tests.support.stored import Database


async def test_a_relationship_is_read_from_either_end_without_an_embedding_call(
    tools: Toolset, embedder: WatchedEmbedder
) -> None:
    ada, rome = await person(tools, "Ada"), await node(tools, "Entity", "Rome")
    await relate(
        tools,
        ada,
        rome,
        "lives in",
        description="Since 2019",
        attitude=5,
        notes=["Likes the light"],
    )
    embedder.forget()
    payload = succeeded(await tools.get_relationship(from_entity_key=rome, to_entity_key=ada))
    assert (
        payload["message"] == "Relationship between Rome and Ada. Its direction is from Ada to Rome"
    )
    shown = payload["relationship"]
    assert (shown["from_entity_key"], shown["to_entity_key"]) == (rome, ada)
    assert (shown["attitude_word"], shown["neo4j_type"]) == ("strongly-positive", "associated_with")
    assert [note["content"] for note in shown["notes"]] == ["Likes the light"]
    assert "similarity" not in shown
    assert embedder.calls == 0


async def test_properties_of_other_programs_are_shown_but_nothing_internal(
    tools: Toolset, database: Database
) -> None:
    ends = await two_friends(tools)
    await database.run(
        "MATCH (:Person {user_id: $user})-[r]->() SET r += {since: date('2019-05-01'), tags: [], "
        "place: point({x: 1, y: 2}), "
        "created_by: 'x', last_update_source: 'y', odd: 0.0/0.0, description_embedding: [0.1, 0.2, "
        "0.3]}",
    )
    shown = succeeded(await tools.get_relationship(**ends))["relationship"]
    assert shown["properties"]["since"] == "2019-05-01"
    assert shown["properties"]["odd"] == "nan"
    assert "tags" not in shown["properties"]


async def test_values_of_the_wrong_type_in_an_old_graph_break_nothing(
    tools: Toolset, database: Database
) -> None:
    ends = await two_friends(tools)
    await database.run(
        "MATCH (a:Person {user_id: $user})-[r]->() SET a.name = 7, r.description = [1, 2], "
        "r.relationship_type = 3, "
        "r.attitude = 'warm', r.proximity = 0.0/0.0, r.notes = 'null'",
    )
    shown = succeeded(await tools.get_relationship(**ends))["relationship"]
    assert (
        not {"description", "relationship_type", "attitude", "proximity", "notes", "from_name"}
        & shown.keys()
    )
    succeeded(await tools.update_relationship(**ends, attitude=3))


async def test_a_missing_record_is_named(tools: Toolset) -> None:
    first, second = await persons(tools, "Ada", "Bo")
    error = error_of(await tools.get_relationship(from_entity_key=first, to_entity_key=second))
    problem = f"Relationship not found between Ada ({first[:12]}) and Bo ({second[:12]})"
    assert error == f"{problem}. find_paths shows whether and how they are connected"
    error = error_of(await tools.get_relationship(from_entity_key=first, to_entity_key="ghost"))
    assert error == "Node not found: ghost" + WHERE_KEYS_ARE
    assert (
        error_of(await tools.get_relationship(to_entity_key=first)) == "from_entity_key is missing"
    )
    error = error_of(await tools.get_relationship(from_entity_key="ghost"))
    assert error == "Node not found: ghost" + WHERE_KEYS_ARE


async def test_a_node_has_the_number_of_its_relationships_and_lists_them_by_strength(
    tools: Toolset,
) -> None:
    ada = await person(tools, "Ada")
    for number in range(12):
        other = await person(tools, f"P{number:02}")
        await relate(tools, ada, other, "friend", attitude=1 + number % 5, proximity=2)
    rome = await node(tools, "Entity", "Rome")
    await relate(tools, ada, rome, "lives in")

    asked = {"from_entity_key": ada, "token_budget": 2_000}
    found = succeeded(await tools.get_relationship(**asked))
    assert (found["message"], found["relationship_count"], found["total"]) == (
        "Person Ada with 13 relationships",
        13,
        13,
    )
    strengths = [one["strength"] for one in found["relationships"]]
    assert (len(strengths), strengths) == (13, sorted(strengths, reverse=True))
    assert found["relationships"][-1]["triplet"] == "Ada lives in Rome"

    text = (await tools["get_relationship"].call_text(asked)).text.splitlines()
    assert text[0].startswith("Ada (Person ")
    assert text[1] == "13 relationships, the strongest first"
    assert text[2].startswith(
        ("- Ada -[friend]-> P04 (Person) (", "- Ada -[friend]-> P09 (Person) (")
    )
    assert text[2].endswith(") strength 7")
    assert text[-1] == "- Ada -[lives in]-> Rome (Entity)"

    # Page by page, each is listed once.
    short, lines = {**asked, "token_budget": 200}, list[str]()
    cursor: dict[str, str] = {}
    while True:
        page = await tools["get_relationship"].call_text({**short, **cursor})
        lines += [line for line in page.text.splitlines() if line.startswith("- ")]
        if "next_cursor" not in page.payload:
            break
        cursor = {"cursor": page.payload["next_cursor"]}
    assert [line.partition(" (")[0] for line in lines] == [
        line.partition(" (")[0] for line in text[2:]
    ]
