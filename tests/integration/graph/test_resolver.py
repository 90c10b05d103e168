"""Which node a key, the beginning of a key, a name or "me" means."""

from collections.abc import AsyncIterator

import pytest

from kgagent import InputError, KnowledgeGraph, NodeNotFoundError
from kgagent.graph.references import MAX_INDEXED_NAMES, WINDOW, Resolver
from kgagent.graph.statements import statement
from kgagent.knowledge_graph import services_of
from kgagent.names import plain_text
from kgagent.tools import Toolset
from tests.support.people import node, person
from tests.support.stored import cypher

pytestmark = pytest.mark.neo4j_5


@pytest.fixture
def resolver(graph: KnowledgeGraph) -> Resolver:
    return services_of(graph).resolver


async def outcomes(
    resolver: Resolver, user_id: str, asked: list[str]
) -> dict[str, str | InputError]:
    found = await resolver.find(user_id, asked, loosely=False)
    return {reference: found.outcome(reference) for reference in asked}


@pytest.fixture
async def stored(graph: KnowledgeGraph, user_id: str) -> AsyncIterator[str]:
    """A user with nodes whose keys are given by the test; `store_people` adds them."""
    yield user_id
    await cypher(graph, "MATCH (n) WHERE n.user_id STARTS WITH $user DETACH DELETE n", user=user_id)


async def store_people(graph: KnowledgeGraph, user_id: str, names: dict[str, str]) -> None:
    people = [{"entity_key": key, "name": name, "user_id": user_id} for key, name in names.items()]
    await cypher(graph, "UNWIND $people AS person CREATE (n:Person) SET n = person", people=people)


async def test_a_key_its_beginning_and_the_name_mean_the_node(
    resolver: Resolver, tools: Toolset, user_id: str
) -> None:
    key = await person(tools, "Ruth Calder")
    forms = [
        key,
        key[:8],
        f" {key[:12]}… ",
        f"{key[:9]}...",
        "Ruth Calder",
        "  ruth \t CALDER",
        f"Ruth (Person, {key[:12]})",
    ]
    assert await outcomes(resolver, user_id, forms) == dict.fromkeys(forms, key)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("Straße 7", "STRASSE 7"),
        ("Café", "Cafe\u0301"),
        ("\uff32\uff55\uff54\uff48", "ruth"),
        ("Harvest  fair\t(June)", "harvest fair (june)"),
        ("C++", "c++"),
        ("東京タワー", "東京タワー"),
        ('a"b\\c', 'A"B\\C'),
        ("Sinead O\u2019Brien", "sinead o'brien"),
        ("Sinead O'Brien", "Sinead O\u2019Brien"),
        ("Zoe\u0308", "ZO\u00cb"),
        ("x\u00b2", "X\u00b2"),
    ],
)
async def test_names_are_compared_without_case_spaces_and_compatibility_forms(
    resolver: Resolver, tools: Toolset, user_id: str, name: str, reference: str
) -> None:
    key = await person(tools, name)
    await person(tools, "Another one")
    assert await outcomes(resolver, user_id, [reference]) == {reference: key}


async def test_several_nodes_of_a_name_are_an_error_that_lists_them(
    resolver: Resolver, tools: Toolset, user_id: str
) -> None:
    first = await person(tools, "Ruth", description="Naval architect. " * 20)
    second = await person(tools, "ruth")
    said = str((await outcomes(resolver, user_id, ["RUTH"]))["RUTH"])
    assert said.startswith("RUTH could refer to 2 nodes; give the key of one: ")
    assert f"Ruth (Person, {first[:12]}): Naval architect." in said
    assert f"ruth (Person, {second[:12]})" in said
    assert len(said) < 250


async def test_more_than_ten_nodes_of_a_name_are_listed_to_ten(
    resolver: Resolver, graph: KnowledgeGraph, stored: str
) -> None:
    await store_people(graph, stored, {f"{stored}-{n:02}": "Tom" for n in range(12)})
    said = str((await outcomes(resolver, stored, ["Tom"]))["Tom"])
    assert said.startswith("Tom could refer to more than 10 nodes")
    assert said.count("Tom (Person") == 10


async def test_a_label_chooses_among_nodes_of_a_name(
    resolver: Resolver, tools: Toolset, user_id: str
) -> None:
    ruth, book = await person(tools, "Ruth"), await node(tools, "Entity", "Ruth")
    found = await resolver.find(user_id, ["Ruth", "Ruth (Entity)", ruth])
    assert found.key("Ruth", "Person") == ruth
    assert found.key("Ruth", "Entity") == found.key("Ruth (Entity)") == book
    with pytest.raises(NodeNotFoundError):
        found.key(ruth, "Concept")


async def test_a_beginning_of_two_keys_is_an_error(
    resolver: Resolver, graph: KnowledgeGraph, stored: str
) -> None:
    base = "5b0c1a2f-0000-4000-8000-"
    first, second = f"{base}{hash(stored) % 10**11:011}1", f"{base}{hash(stored) % 10**11:011}2"
    await store_people(graph, stored, {first: "Ann", second: "Ben"})
    resolved = await outcomes(resolver, stored, ["5b0c1a2f", first, "5b0c1a2"])
    assert resolved[first] == first
    assert str(resolved["5b0c1a2f"]).startswith("5b0c1a2f could refer to 2 nodes")
    assert f"Ann (Person, {first})" in str(resolved["5b0c1a2f"])
    assert isinstance(resolved["5b0c1a2"], NodeNotFoundError)


@pytest.mark.parametrize("word", ["me", "Me", "I", " myself"])
async def test_the_owner_is_meant_even_if_a_node_has_that_name(
    resolver: Resolver, tools: Toolset, user_id: str, word: str
) -> None:
    namesake = await person(tools, word.strip())
    assert await outcomes(resolver, user_id, [word]) == {word: namesake}
    owner = await person(tools, "Anna", is_owner=True)
    assert await outcomes(resolver, user_id, [word, "Anna"]) == {word: owner, "Anna": owner}


async def test_me_without_an_owner_says_how_to_set_one(resolver: Resolver, user_id: str) -> None:
    said = str((await outcomes(resolver, user_id, ["me"]))["me"])
    assert "set `is_owner` to true on that person's node" in said
    assert await resolver.owner(user_id) is None


async def test_many_names_are_found_at_once(
    resolver: Resolver, graph: KnowledgeGraph, stored: str
) -> None:
    count = MAX_INDEXED_NAMES + 10
    await store_people(graph, stored, {f"{stored}-{n}": f"Person  {n}" for n in range(count)})
    resolved = await outcomes(resolver, stored, [*(f"PERSON {n}" for n in range(count)), "nobody"])
    assert [resolved[f"PERSON {n}"] for n in range(count)] == [
        f"{stored}-{n}" for n in range(count)
    ]
    assert isinstance(resolved["nobody"], NodeNotFoundError)


async def test_a_name_is_found_although_many_names_score_better(
    resolver: Resolver, graph: KnowledgeGraph, stored: str
) -> None:
    names = {f"{stored}-{n}": "film film film" for n in range(WINDOW)}
    await store_people(graph, stored, {**names, f"{stored}-last": "Film film"})
    assert await outcomes(resolver, stored, ["film film"]) == {"film film": f"{stored}-last"}


async def test_hostile_references_are_unknown(
    resolver: Resolver, tools: Toolset, user_id: str
) -> None:
    await person(tools, "Ruth")
    hostile = [
        "",
        "  ",
        "x" * 100_000,
        "\ud800",
        "a\x00b",
        "\x1b[0m",
        "*",
        "name:*",
        "}) DETACH DELETE n //",
        "~1",
        '"',
    ]
    resolved = await outcomes(resolver, user_id, hostile)
    assert list(resolved) == hostile
    for found in resolved.values():
        assert isinstance(found, NodeNotFoundError)
        assert str(found).isprintable()
        assert len(str(found)) < 400
    many = [f"{n:08x}" for n in range(2_000)]
    assert len(await outcomes(resolver, user_id, many)) == len(many)
    assert await outcomes(resolver, user_id, []) == {}


async def test_the_database_compares_the_same_plain_texts(graph: KnowledgeGraph) -> None:
    texts = [
        "Łukasz Żak",
        "Bjørn (Ærø)",
        "O\u2019Brien, J.",
        "\u0130STANBUL",
        "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2",
        "Straße",
        "Ca\u200bfe\u0301\n2",
        "ℝ² 🦄",
    ]
    texts += [
        "東京タワー",
        "हिन्दी",
        "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",
        "",
        ".,",
        "plain 'ASCII'",
    ]
    rows = await cypher(
        graph, f"UNWIND $texts AS text RETURN {statement('_plain_text')} AS plain", texts=texts
    )
    assert [row["plain"] for row in rows] == [plain_text(text) for text in texts]
