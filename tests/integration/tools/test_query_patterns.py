"""query_patterns as an agent calls it."""

import json
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.adapters.json_schema import arguments_schema
from kgagent.ontology import default_ontology
from kgagent.tools import Toolset
from kgagent.tools.pattern_guide import WORKED_EXAMPLES
from kgagent.tools.query_patterns import SHORT_EXAMPLE, QueryPatterns, QueryPatternsArguments
from tests.support.payloads import assert_nothing_hidden, error_of, succeeded
from tests.support.people import person, persons, relate, remembered, two_friends
from tests.support.stored import Database
from tests.support.ward import plant_ward

SHARED_DOCTOR: dict[str, Any] = {
    "steps": [
        {"source_label": "Patient", "relation_type": "TREATED_BY", "target_label": "Doctor"},
        {"relation_type": "TREATED_BY", "target_label": "Patient", "direction": "INCOMING"},
    ]
}


def test_the_examples_are_valid() -> None:
    for example in WORKED_EXAMPLES:
        QueryPatternsArguments.model_validate(example.arguments)
    QueryPatternsArguments.model_validate(SHORT_EXAMPLE)


async def test_each_node_of_the_paths_is_listed_once(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await plant_ward(graph, user_id)
    payload = await tools.query_patterns(patterns=[SHARED_DOCTOR])
    assert payload["success"]
    assert payload["message"] == "Found 2 paths"
    assert {path["path"] for path in payload["paths"]} == {
        "Ann -[TREATED_BY]-> Finn <-[TREATED_BY]- Bo",
        "Bo -[TREATED_BY]-> Finn <-[TREATED_BY]- Ann",
    }
    assert sorted(node["name"] for node in payload["nodes"]) == ["Ann", "Bo", "Finn"]
    assert set(payload["paths"][0]["nodes"]) == {node["entity_key"] for node in payload["nodes"]}
    assert_nothing_hidden(payload)
    json.dumps(payload)


async def test_a_path_has_records_as_other_tools_return_them(tools: Toolset) -> None:
    keys = await remembered(
        tools,
        [
            {"label": "Person", "name": name, "description": f"{name} sails"}
            for name in ("Ann", "Bo")
        ],
        [
            {
                "from": "Ann",
                "to": "Bo",
                "relationship_type": "mentor",
                "description": "since 2019",
                "attitude": 4,
            }
        ],
    )
    pattern = {"steps": [{"relation_type": "has_relationship_with", "direction": "INCOMING"}]}
    payload = await tools.query_patterns(patterns=[pattern])
    [path] = payload["paths"]
    [relationship] = path["relationships"]
    assert relationship.pop("attitude_word")
    assert relationship == {
        "neo4j_type": "has_relationship_with",
        "relationship_type": "mentor",
        "description": "since 2019",
        "attitude": 4,
        "direction": "INCOMING",
    }
    assert path["path"] == "Bo <-[has_relationship_with: mentor]- Ann"
    assert {node["name"]: node for node in payload["nodes"]} == {
        name: {"entity_key": key, "label": "Person", "name": name, "description": f"{name} sails"}
        for name, key in keys.items()
    }


async def test_a_text_has_notes_as_sentences_those_that_match_first(tools: Toolset) -> None:
    notes = [f"Sailed round island {n}." for n in range(6)]
    ann = await person(tools, "Ann", "A sailor.", notes=[*notes, "Sold the boat in December."])
    bo, cy = await person(tools, "Bo"), await person(tools, "Cy", "Lives in Bergen.")
    await relate(
        tools,
        ann,
        bo,
        "mentor",
        description="Taught him.",
        attitude=4,
        notes=[*notes, "Met in December."],
    )
    await relate(tools, bo, cy, "friend", notes=["Met at school."])
    about = {
        "type": "CONTAINS",
        "on": "relationship",
        "property_path": "notes",
        "value": "December",
        "at_step": 0,
    }
    pattern = {
        "steps": [{"source_label": "Person", "target_label": "Person"}],
        "constraints": [about],
    }
    found, path, of_ann, *_ = (
        await tools["query_patterns"].call_text({"patterns": [pattern]})
    ).text.splitlines()
    assert found == "Found 1 path"
    assert path.startswith("Ann (Person) -[mentor]-> Bo (Person) (")
    assert path.endswith("): Taught him. | Met in December. | +6 notes: get_relationship")
    assert of_ann.startswith(
        "Ann: A sailor. | Sold the boat in December. | +6 notes: get_relationship"
    )
    both = {"steps": [{"source_label": "Person", "target_label": "Person"}] * 2}
    answer = await tools["query_patterns"].call_text(
        {"query": "sailor in Bergen in December", "patterns": [both]}
    )
    assert "Bo -[friend]-> Cy: Met at school." in answer.text
    assert "Taught him. | Met in December. | +6 notes: get_relationship\n" in answer.text
    assert (
        "A sailor. | Sold the boat in December. | +6 notes: get_relationship of it alone"
        in answer.text
    )
    assert answer.text.count("A sailor.") == answer.text.count("Lives in Bergen.") == 1
    assert not any(filler in answer.text for filler in ("..", "Text of", "added_by"))


async def test_without_a_path_the_message_says_what_was_done_instead(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await plant_ward(graph, user_id)
    ann = {"targets": [{"description": "Ann", "label": "Patient"}]}
    nobody = {"type": "=", "property_path": "name", "value": "Zoe", "at_step": "start"}
    treated_for = {"relation_types": ["has_relationship_with"], "max_depth": 1}
    nothing = "There are no patterns, and no targets with a traversal"
    for arguments, said in (
        (
            {"query": "Zoe's doctor", "patterns": [{**SHARED_DOCTOR, "constraints": [nobody]}]},
            "No path was found",
        ),
        ({**ann, "traversal": treated_for}, "No path was found"),
        (ann, nothing),
        ({"query": "x", "traversal": {}}, nothing),
    ):
        payload = await tools.query_patterns(**arguments)
        done = payload["message"].removesuffix("; `hybrid` has the results of a hybrid search")
        assert (payload["strategy"], done) == ("hybrid", said), payload


async def test_the_form_of_the_documents_is_accepted(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await plant_ward(graph, user_id)
    payload = await tools.query_patterns(
        textQuery="Who is treated by whom?",
        graphQuery={
            "patterns": [
                {
                    "patternId": "treated",
                    "steps": [
                        {
                            "sourceLabel": "Patient",
                            "relationType": "TREATED_BY",
                            "targetLabel": "Doctor",
                            "stepIndex": 0,
                        }
                    ],
                    "constraints": [
                        {
                            "type": "PROPERTY_IN",
                            "nodeLabel": "Doctor",
                            "propertyPath": "name",
                            "value": ["Eve"],
                            "atStep": 0,
                        }
                    ],
                }
            ],
            "rankingStrategy": "PATH_LENGTH",
            "maxPaths": 5,
        },
    )
    assert [path["path"] for path in payload["paths"]] == ["Ann -[TREATED_BY]-> Eve"]
    assert (payload["ranking"], payload["query"]) == ("PATH_LENGTH", "Who is treated by whom?")
    assert payload["metadata"] == {"matchedPaths": 1}


async def test_other_spellings_of_fields_and_values_are_accepted(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await plant_ward(graph, user_id)
    step = {"source": "Patient", "type": "TREATED_BY", "target": "Doctor", "direction": "->"}
    eve = {"operator": "=", "field": "name", "value": "Eve", "step": 0}
    back = {
        "from_label": "Doctor",
        "edge_type": "TREATED_BY",
        "to_label": "Patient",
        "direction": "in",
    }
    ann = {"op": "is", "key": "name", "value": "Ann", "at": "end"}
    spellings: tuple[dict[str, Any], ...] = (
        {"pattern": {"steps": step, "constraints": eve}},
        {"patterns": json.dumps([{"steps": [step], "constraints": [eve]}])},
        {
            "graph_query": json.dumps({"patterns": [{"steps": [step], "constraints": [eve]}]}),
            "text_query": "[x] who?",
        },
        {"combinator": {"operator": "and", "patterns": {"steps": step, "constraints": eve}}},
    )
    for spelling in spellings:
        payload = succeeded(await tools.query_patterns(**spelling))
        assert [path["path"] for path in payload["paths"]] == ["Ann -[TREATED_BY]-> Eve"], spelling
    payload = succeeded(
        await tools.query_patterns(steps=[back], constraints=[ann], ranking="shortest")
    )
    assert {path["path"] for path in payload["paths"]} == {
        "Eve <-[TREATED_BY]- Ann",
        "Finn <-[TREATED_BY]- Ann",
    }


async def test_an_invalid_pattern_is_answered_with_the_meant_names_and_an_example(
    tools: Toolset,
) -> None:
    misspelled: list[object] = [{"stepps": [{"sorce_label": "Patient"}]}]
    error = error_of(await tools.query_patterns(patterns=misspelled))
    assert "unknown argument patterns.0.stepps: did you mean steps?" in error
    wrong: tuple[list[object], ...] = (misspelled, [{"steps": []}], ["a to b"])
    for patterns in wrong:
        error = error_of(await tools.query_patterns(patterns=patterns))
        assert json.loads(error.partition("Example: ")[2]) == SHORT_EXAMPLE


async def test_a_word_used_as_a_type_is_answered_with_the_constraint_that_it_belongs_in(
    tools: Toolset,
) -> None:
    ends = await two_friends(tools, relationship_type="mentor")
    pattern: dict[str, Any] = {"steps": [{"source_label": "Person", "relation_type": "Mentor"}]}
    error = error_of(await tools.query_patterns(patterns=[pattern]))
    constraint, _ = json.JSONDecoder().raw_decode(error, error.index("{"))
    pattern = {"steps": [{"source_label": "Person"}], "constraints": [constraint]}
    payload = succeeded(await tools.query_patterns(patterns=[pattern]))
    assert [path["nodes"] for path in payload["paths"]] == [list(ends.values())]


async def test_a_name_in_a_constraint_may_be_an_alias_or_me_if_no_node_has_it(
    tools: Toolset,
) -> None:
    keys = await remembered(
        tools,
        [
            {"label": "Person", "name": "Lena Hofmann", "is_owner": True},
            {"label": "Person", "name": "Robert Hofmann", "aliases": ["Bobby"]},
            {"label": "Person", "name": "Svenja Kraus"},
        ],
        [
            {"from": "Robert Hofmann", "to": "Lena Hofmann", "relationship_type": "brother"},
            {"from": "Svenja Kraus", "to": "Lena Hofmann", "relationship_type": "friend"},
        ],
    )
    me, bobby, svenja = keys.values()

    async def found(name: str, other: str) -> tuple[list[list[str]], str]:
        constraints = [
            {"type": "PROPERTY_EQUALS", "property_path": "name", "value": value, "at_step": place}
            for value, place in ((name, "start"), (other, "end"))
        ]
        steps = [{"source_label": "Person", "target_label": "Person"}]
        answer = await tools["query_patterns"].call_text(
            {"patterns": [{"steps": steps, "constraints": constraints}]}
        )
        return [path["nodes"] for path in answer.payload.get("paths") or ()], answer.text

    paths, text = await found("Bobby", "me")
    assert paths == [[bobby, me]]
    assert text.endswith(f"Bobby → Robert Hofmann (Person, {bobby[:12]})")
    assert (await found("Svenja", "Lena Hofmann"))[0] == [[svenja, me]]
    paths, text = await found("Svenja Krauss", "me")
    assert paths == []
    assert (
        f"No node is named 'Svenja Krauss'. Nearest to Svenja Krauss: Svenja Kraus (Person, "
        f"{svenja[:12]})" in text
    )
    await person(tools, "Bobby")
    paths, text = await found("Bobby", "me")
    assert paths == []
    assert "Bobby →" not in text
    assert bobby[:12] not in text


@pytest.fixture
async def choir(tools: Toolset) -> dict[str, str]:
    """Keys of four friends of Ines, of whom Sofia, also called Mimi, and Lurdes sing in the
    choir.
    """
    friends = ("Clara Mendes", "Lurdes", "Mr. Vogel", "Sofia")
    singers = [{"label": "Person", "name": name} for name in friends[:3]]
    sofia = {"label": "Person", "name": "Sofia", "aliases": ["Mimi"]}
    ines = {"label": "Person", "name": "Ines", "is_owner": True}
    choir = {"label": "Entity", "name": "Coro da Graça", "aliases": ["Graça choir"]}
    friend = {"to": "Ines", "relationship_type": "friend"}
    sings = {"to": choir["name"], "relationship_type": "sings in"}
    keys = await remembered(
        tools,
        [ines, *singers, sofia, choir],
        [
            *({"from": name, **friend} for name in friends),
            *({"from": name, **sings} for name in ("Sofia", "Lurdes")),
        ],
    )
    return {name: key for name, key in keys.items() if name != choir["name"]}


async def found_at_start(tools: Toolset, pattern: dict[str, Any]) -> tuple[set[str], list[str]]:
    """Names of the nodes at which paths start, and the warnings."""
    payload = succeeded(
        await tools.query_patterns(patterns=[pattern], max_paths=100, token_budget=20_000)
    )
    names = {one["entity_key"]: one["name"] for one in payload.get("nodes", ())}
    return {names[path["nodes"][0]] for path in payload.get("paths", ())}, payload.get(
        "warnings", []
    )


TO_INES = {
    "source_label": "Person",
    "relation_type": "has_relationship_with",
    "target_label": "Person",
}
TO_THE_CHOIR = {"relation_type": "associated_with", "target_label": "Entity"}


async def test_names_and_types_that_exclude_paths_are_read_as_elsewhere(
    tools: Toolset, choir: dict[str, str]
) -> None:
    by_name = {"type": "=", "property_path": "name", "at_step": "end"}
    by_type = {"type": "=", "on": "relationship", "property_path": "relationship_type"}
    none_excluded = choir.keys() - {"Ines"}
    for constraint, found, warnings in (
        (
            {**by_name, "value": "Graça choir"},
            {"Clara Mendes", "Mr. Vogel"},
            ["Graça choir → Coro da Graça (Entity"],
        ),
        ({**by_type, "value": "Sings_in"}, {"Clara Mendes", "Mr. Vogel"}, ["Sings_in → sings in"]),
        (
            {**by_name, "value": "Coro da Grassa"},
            none_excluded,
            ["No node is named 'Coro da Grassa'. Nearest to Coro da Grassa: Coro da Graça"],
        ),
        (
            {**by_type, "value": "sang in"},
            none_excluded,
            ["No relationship has the type 'sang in'. Nearest: sings in"],
        ),
    ):
        branch = {
            "at_step": "start",
            "steps": [TO_THE_CHOIR],
            "constraints": [constraint],
            "at_most": 0,
        }
        reached, said = await found_at_start(tools, {"steps": [TO_INES], "branches": [branch]})
        assert reached == found
        assert [one[: len(start)] for one, start in zip(said, warnings, strict=True)] == warnings


async def test_lists_of_names_and_types_may_have_other_names_and_spellings(
    tools: Toolset, choir: dict[str, str]
) -> None:
    assert choir
    both = {**TO_INES, "direction": "BOTH"}

    async def found(
        step: dict[str, Any], kind: str, values: list[str], **more: str
    ) -> tuple[set[str], list[str]]:
        constraint = {
            "type": kind,
            "property_path": "name",
            "value": values,
            "at_step": "start",
            **more,
        }
        return await found_at_start(tools, {"steps": [step], "constraints": [constraint]})

    names, warnings = await found(both, "NOT_IN", ["me", "Clara", "Lurdes"])
    assert names == {"Sofia", "Mr. Vogel"}
    assert [one.partition(" (")[0] for one in warnings] == ["Clara → Clara Mendes"]
    assert (await found(TO_THE_CHOIR, "IN", ["Mimi", "Vogel"]))[0] == {"Sofia"}
    names, warnings = await found(both, "IN", ["Mimi", "Lurdes", "Nobody"])
    assert names == {"Sofia", "Lurdes"}
    assert [one.partition(" (")[0] for one in warnings] == [
        "Mimi → Sofia",
        "No node is named 'Nobody'",
    ]
    of_type = {"on": "relationship", "property_path": "relationship_type", "at_step": "0"}
    names, warnings = await found(
        {"source_label": "Person"}, "NOT_IN", ["sings_in", "Fiend"], **of_type
    )
    assert names == {"Clara Mendes", "Lurdes", "Mr. Vogel", "Sofia"}
    assert warnings == [
        "sings_in → sings in",
        "No relationship has the type 'Fiend'. Nearest: friend",
    ]


async def test_a_property_of_relationships_on_nodes_is_answered_with_where_it_belongs(
    tools: Toolset, choir: dict[str, str]
) -> None:
    await tools.update_relationship(
        from_entity_key=choir["Sofia"], to_entity_key=choir["Ines"], attitude=5
    )
    at_least = {"type": "AT_LEAST", "property_path": "attitude", "value": 4, "at_step": 0}
    error = error_of(
        await tools.query_patterns(patterns=[{"steps": [TO_INES], "constraints": [at_least]}])
    )
    assert "Unknown property 'attitude' of Person in pattern 'pattern'" in error
    assert 'It is a property of relationships: add "on": "relationship".' in error
    pattern = {"steps": [TO_INES], "constraints": [{**at_least, "on": "relationship"}]}
    [path] = succeeded(await tools.query_patterns(patterns=[pattern]))["paths"]
    assert path["nodes"][0] == choir["Sofia"]


async def test_names_outside_the_ontology_are_compared_as_they_are(
    database: Database, tools: Toolset
) -> None:
    anna = await person(tools, "Anna Berger", aliases=["Rex"])
    await database.run(
        "MATCH (n:Person {user_id: $user}) CREATE (n)-[:OWNS {relationship_type: 'acute'}]->(:Pet "
        "{user_id: $user, "
        "name: 'Rex', entity_key: 'rex'}), (n)-[:OWNS]->(:Pet {user_id: $user, name: 'Tom', "
        "entity_key: 'tom'})",
    )
    owns = {"source_label": "Person", "relation_type": "OWNS", "target_label": "Pet"}
    for kind, values, keys in (("IN", ["Rex"], ["rex"]), ("NOT_IN", ["Rex"], ["tom"])):
        name = {"type": kind, "property_path": "name", "value": values, "at_step": "end"}
        payload = succeeded(
            await tools.query_patterns(patterns=[{"steps": [owns], "constraints": [name]}])
        )
        assert [path["nodes"] for path in payload["paths"]] == [[anna, key] for key in keys]
        assert "warnings" not in payload
    acute = {
        "type": "IN",
        "on": "relationship",
        "property_path": "relationship_type",
        "value": ["acute"],
        "at_step": 0,
    }
    payload = succeeded(
        await tools.query_patterns(patterns=[{"steps": [owns], "constraints": [acute]}])
    )
    assert "warnings" not in payload


async def test_the_first_worked_example_finds_what_it_says(tools: Toolset) -> None:
    me, [ruth, tom] = await person(tools, "Me"), await persons(tools, "Ruth", "Tom")
    ties = {
        (ruth, me): "mentor",
        (tom, me): "friend",
        (ruth, "Sailing"): "loves",
        (tom, "Chess"): "plays",
    }
    keys = await remembered(
        tools,
        [{"label": "Concept", "name": name} for name in ("Sailing", "Chess")],
        [
            {"from": first, "to": second, "relationship_type": kind}
            for (first, second), kind in ties.items()
        ],
    )
    payload = succeeded(await tools.query_patterns(**WORKED_EXAMPLES[0].arguments))
    assert [path["nodes"] for path in payload["paths"]] == [[me, ruth, keys["Sailing"]]]


def test_the_definition_for_a_model_is_short() -> None:
    schema = json.dumps(arguments_schema(QueryPatternsArguments))
    assert len(schema) + len(QueryPatterns().description(default_ontology())) < 6_000
    assert '"null"' not in schema
