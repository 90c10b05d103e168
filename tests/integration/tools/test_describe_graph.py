import json

import pytest

from kgagent import KnowledgeGraph
from kgagent.answers.token_budget import estimated_tokens
from kgagent.knowledge_graph import services_of
from kgagent.models.live_schema import (
    LabelPair,
    LiveLabel,
    LiveProperty,
    LiveRelationshipType,
    LiveSchema,
    ValueKind,
)
from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import person, two_friends
from tests.support.stored import Database
from tests.support.ward import plant_ward


async def test_labels_outside_the_ontology_are_described(
    tools: Toolset, graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str
) -> None:
    await plant_ward(graph, user_id)
    answer = succeeded(await tools.describe_graph())
    assert answer["message"] == "The graph has 4 labels and 2 relationship types"
    labels = {label.pop("label"): label for label in answer["labels"]}
    assert list(labels) == ["Condition", "Doctor", "Patient", "Surgeon"]
    assert labels["Patient"] == {
        "count": 2,
        "properties": {
            "admitted": "date/time",
            "age": "number",
            "allergies": "list",
            "contact": "JSON text",
            "insured": "boolean",
            "name": 'text: "Ann", "Bo"',
            "status": 'text: "active"',
        },
    }
    assert answer["relationship_types"] == [
        {
            "type": "TREATED_BY",
            "count": 3,
            "connects": [
                {"from": "Patient", "to": "Doctor", "count": 3},
                {"from": "Patient", "to": "Surgeon", "count": 1},
            ],
        },
        {
            "type": "HAS_CONDITION",
            "count": 2,
            "properties": {"severity": 'text: "mild"', "since": "number"},
            "connects": [{"from": "Patient", "to": "Condition", "count": 2}],
        },
    ]
    assert "notes" not in answer
    assert embedder.calls == 0


async def test_selected_labels_come_with_their_relationship_types(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    await plant_ward(graph, user_id)
    answer = succeeded(await tools.describe_graph(labels=["Condition", "Surgeon"]))
    assert [label["label"] for label in answer["labels"]] == ["Condition", "Surgeon"]
    assert {
        kind["type"]: [pair["to"] for pair in kind["connects"]]
        for kind in answer["relationship_types"]
    } == {
        "TREATED_BY": ["Surgeon"],
        "HAS_CONDITION": ["Condition"],
    }
    error = error_of(await tools.describe_graph(labels=["Docter"]))
    assert error.startswith(
        "Unknown label 'Docter' in labels. Did you mean Doctor? Existing labels: Concept, "
    )


async def test_a_new_record_is_described_at_once(tools: Toolset) -> None:
    empty = succeeded(await tools.describe_graph())
    assert (empty["labels"], empty["relationship_types"]) == ([], [])
    await person(tools, "Ada")
    assert [label["count"] for label in succeeded(await tools.describe_graph())["labels"]] == [1]


async def test_hidden_properties_and_other_users_are_not_described(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    await two_friends(tools, notes=["They row"])
    await plant_ward(graph, f"{user_id}-other")
    await database.run(
        "MATCH (n:Person {user_id: $user}) SET n.is_dirty = true, n.created_by = 'x', "
        "n.face_embedding = [0.1, 0.2]",
    )
    described = json.dumps(succeeded(await tools.describe_graph()))
    for hidden in (
        "is_dirty",
        "created_by",
        "embedding",
        "user_id",
        "version",
        "Patient",
        "TREATED_BY",
    ):
        assert hidden not in described
    assert '"notes": "JSON text"' in described


def a_large_schema(*, names: int, length: int) -> LiveSchema:
    all_names = [f"{number}_".ljust(length, "x") for number in range(max(names, 40))]
    properties = tuple(
        LiveProperty(name=name, kinds=(ValueKind.TEXT,), examples=("example",) * 5)
        for name in all_names[:40]
    )
    labels = all_names[:names]
    return LiveSchema(
        labels=tuple(
            LiveLabel(name=name, count=n, properties=properties, sampled=True)
            for n, name in enumerate(labels, start=1)
        ),
        relationship_types=tuple(
            LiveRelationshipType(
                name=name,
                count=n,
                pairs=tuple(
                    LabelPair(from_label=name, to_label=other, count=1) for other in labels
                ),
                properties=properties,
            )
            for n, name in enumerate(labels, start=1)
        ),
    )


async def test_a_large_description_is_continued_in_pages_within_the_budget(
    tools: Toolset, graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = a_large_schema(names=100, length=30)

    async def read(*_: object, **__: object) -> LiveSchema:
        return schema

    monkeypatch.setattr(services_of(graph).live_schema, "read", read)
    described: list[str] = []
    cursor = None
    while cursor is not None or not described:
        answer = succeeded(await tools.describe_graph(cursor=cursor))
        assert estimated_tokens(json.dumps(answer, ensure_ascii=False)) <= 4_000
        assert "sampled" in answer["notes"][-1]
        described += [
            *(part["label"] for part in answer["labels"]),
            *(p["type"] for p in answer["relationship_types"]),
        ]
        cursor = answer.get("next_cursor")
    assert described == [
        *(label.name for label in schema.labels),
        *(kind.name for kind in schema.relationship_types),
    ]
    text = await tools["describe_graph"].call_text({})
    assert estimated_tokens(text.text) <= 4_000


async def test_an_incomplete_description_says_so(
    tools: Toolset, graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(*_: object, **__: object) -> LiveSchema:
        return LiveSchema(
            labels=(LiveLabel(name="Patient", count=9, is_lower_bound=True),), is_partial=True
        )

    monkeypatch.setattr(services_of(graph).live_schema, "read", read)
    answer = succeeded(await tools.describe_graph())
    assert answer["labels"] == [{"label": "Patient", "count": 9, "or_more": True}]
    assert answer["notes"] == [
        "or_more: the count is a lower bound",
        "Some labels and types may be missing",
    ]


async def test_a_topic_is_a_guide_instead(tools: Toolset) -> None:
    patterns = succeeded(await tools.describe_graph(topic="patterns"))
    assert set(patterns) == {"success", "message", "text"}
    assert [line[:2] for line in patterns["text"].split("\n") if line[:1].isdigit()] == [
        f"{n}." for n in range(1, 6)
    ]
    ontology = succeeded(await tools.describe_graph(topic="ontology"))["text"]
    assert (
        "Person-Person (has_relationship_with): attitude hostile/unfriendly/neutral/friendly/close"
        in ontology
    )
    assert "Only one node of a name exists with the label Concept or Entity" in ontology
    answer = await tools["describe_graph"].call_text({"topic": "ontology"})
    assert answer.text == ontology
    assert "topic must be 'graph', 'ontology' or 'patterns'" in error_of(
        await tools.describe_graph(topic="words")
    )
