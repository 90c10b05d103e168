"""What the feature was asked for, on a real Neo4j with the real local model."""

from collections.abc import AsyncIterator

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.local import LocalEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.tools import Payload, Toolset
from tests.conftest import Clock
from tests.support.payloads import succeeded
from tests.support.people import node, person, relate

pytestmark = pytest.mark.neo4j_5

Story = dict[str, str]

THRESHOLD = 0.55


@pytest.fixture(scope="module")
async def model() -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder()
    yield embedder
    await embedder.aclose()


@pytest.fixture(scope="module")
async def connected(settings: Settings, model: LocalEmbedder) -> AsyncIterator[KnowledgeGraph]:
    async with KnowledgeGraph.connect(settings=settings, embedder=model) as opened:
        yield opened


@pytest.fixture
async def graph(connected: KnowledgeGraph, model: LocalEmbedder, clock: Clock) -> KnowledgeGraph:
    return KnowledgeGraph(
        services_of(connected).store, connected.ontology, model, connected.settings, clock=clock
    )


@pytest.fixture
async def keys(tools: Toolset) -> Story:
    """A person's graph; what matters is said on the relationships, and no node says mentor, friend
    or college.
    """
    people = {
        "Noor": "Keeps this graph; architect in Utrecht",
        "Tessa Brandt": "Structural engineer, sixty-one, collects fountain pens",
        "Olu Adeyemi": "Runs a small architecture office in Ghent",
        "Mika Salonen": "Plays the cello, works in a bakery",
        "Pia Lindqvist": "Veterinarian on the island of Texel",
        "Ruben Vos": "Accountant, rides a racing bike",
        "Zoltan Kiss": "Landlord of three houses near the canal",
    }
    made = {name: await person(tools, name, text) for name, text in people.items()}
    made["Timber"] = await node(tools, "Concept", "Timber construction", "Building with wood")
    noor = made["Noor"]
    await relate(
        tools,
        noor,
        made["Tessa Brandt"],
        "mentor",
        description="Mentor who guides Noor's career",
        attitude=5,
        proximity=4,
    )
    await relate(
        tools,
        noor,
        made["Olu Adeyemi"],
        "mentor",
        description="Took Noor under his wing and still gives her career advice",
        attitude=4,
        proximity=3,
    )
    await relate(
        tools,
        noor,
        made["Mika Salonen"],
        "friend",
        description="Close friend from college; they shared a student house",
        attitude=5,
        proximity=5,
    )
    await relate(
        tools,
        noor,
        made["Pia Lindqvist"],
        "friend",
        description="Old friend whom Noor met at university",
        attitude=4,
        proximity=3,
    )
    await relate(
        tools,
        noor,
        made["Ruben Vos"],
        "tax adviser",
        description="Does Noor's yearly tax return",
        attitude=3,
        proximity=2,
    )
    await relate(
        tools,
        noor,
        made["Zoltan Kiss"],
        "landlord",
        description="Quarrels with Noor over repairs",
        attitude=1,
        proximity=2,
    )
    await relate(
        tools,
        noor,
        made["Timber"],
        "specialises in",
        description="Designs wooden halls",
        attitude=5,
    )
    return made


async def ask(tools: Toolset, query: str, threshold: float = THRESHOLD, **more: object) -> Payload:
    return succeeded(
        await tools.explore(queries=[{"query": query, "threshold": threshold}], **more)
    )


def node_names(payload: Payload) -> list[str]:
    return [item["name"] for item in payload["nodes"]]


def matched(payload: Payload) -> list[str]:
    """The other ends of the relationships that matched, best first, without what surrounds them."""
    edges = [edge for edge in payload["edges"] if edge.get("similarity", 0.0) >= THRESHOLD]
    assert [edge["score"] for edge in edges] == sorted(
        (edge["score"] for edge in edges), reverse=True
    )
    return [edge["to_name"] for edge in edges]


async def test_us1_people_are_discovered_through_relationships_that_their_own_text_does_not_mention(
    tools: Toolset, keys: Story
) -> None:
    payload = await ask(tools, "mentor relationships")
    assert matched(payload)[:2] == ["Tessa Brandt", "Olu Adeyemi"]
    assert {"Tessa Brandt", "Olu Adeyemi"} <= set(node_names(payload))
    by_key = {item["entity_key"]: item for item in payload["nodes"]}
    for name in ("Tessa Brandt", "Olu Adeyemi"):
        assert by_key[keys[name]]["label"] == "Person"
        assert "mentor" not in str(by_key[keys[name]])
    best = payload["edges"][0]
    assert best["description"] == "Mentor who guides Noor's career"
    assert (best["attitude"], best["proximity"]) == (5, 4)


@pytest.mark.usefixtures("keys")
async def test_us1_node_search_alone_does_not_find_them(tools: Toolset) -> None:
    payload = await ask(tools, "mentor relationships", threshold=0.6, search_relationships=False)
    assert not {"Tessa Brandt", "Olu Adeyemi"} & set(node_names(payload))


@pytest.mark.parametrize(
    ("query", "change"),
    [
        ("sailing trips at sea", {"description": "Crews with Noor on sailing trips at sea"}),
        ("brother in law", {"relationship_type": "brother-in-law"}),
        ("hostile enemy", {"attitude": 1}),
        ("complete stranger", {"proximity": 1}),
        (
            "borrowed money and owes a debt",
            {"note": "Borrowed money from Noor and still owes the debt"},
        ),
    ],
)
async def test_us2_each_change_by_itself_changes_what_is_found(
    tools: Toolset, graph: KnowledgeGraph, keys: Story, query: str, change: dict[str, object]
) -> None:
    ends = {"from_entity_key": keys["Noor"], "to_entity_key": keys["Mika Salonen"]}

    async def similarity() -> float:
        found = await graph.retrieval.relationship_vector_search(query, -1.0, user_id=tools.user_id)
        return next(match.similarity for match in found if match.to_name == "Mika Salonen")

    before = await similarity()
    if "note" in change:
        answer = await tools.add_note_to_relationship(**ends, content=change["note"])
    else:
        answer = await tools.update_relationship(**ends, **change)
    assert succeeded(answer)["embedding_regenerated"] is True
    assert await similarity() > before


async def test_us2_a_relationship_is_found_by_all_that_is_currently_known_of_it(
    tools: Toolset, keys: Story
) -> None:
    ends = {"from_entity_key": keys["Noor"], "to_entity_key": keys["Ruben Vos"]}
    assert matched(await ask(tools, "who goes climbing in the Alps with Noor?", 0.7))[:1] != [
        "Ruben Vos"
    ]
    succeeded(
        await tools.add_note_to_relationship(
            **ends, content="They go climbing in the Alps each summer"
        )
    )
    assert (
        matched(await ask(tools, "who goes climbing in the Alps with Noor?", 0.7))[0] == "Ruben Vos"
    )
    succeeded(await tools.update_relationship(**ends, attitude=5, proximity="familiar"))
    payload = await ask(tools, "who goes climbing in the Alps with Noor?", 0.7)
    assert matched(payload)[0] == "Ruben Vos"
    assert payload["edges"][0]["attitude_word"] == "close"


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("query", "people"),
    [
        ("who are my mentors?", ["Tessa Brandt", "Olu Adeyemi"]),
        ("friends from college", ["Mika Salonen", "Pia Lindqvist"]),
        ("quarrels with the landlord", ["Zoltan Kiss"]),
    ],
)
async def test_us3_people_are_found_by_what_they_are_to_the_user_best_first(
    tools: Toolset, graph: KnowledgeGraph, query: str, people: list[str]
) -> None:
    found = await graph.retrieval.find_nodes_via_relationship_search(
        query, 0.5, user_id=tools.user_id
    )
    assert [match.to_name for match in found.relationships][: len(people)] == people
    similarities = [match.similarity for match in found.relationships]
    assert similarities == sorted(similarities, reverse=True)
    assert [node.name for node in found.nodes if node.name in people] == people
    assert all(node.label == "Person" for node in found.nodes if node.name in people)
    payload = await ask(tools, query, token_budget=4_000)
    assert set(people) <= set(node_names(payload))
