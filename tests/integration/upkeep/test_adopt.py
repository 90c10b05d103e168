"""Adopting graphs of other programs: what is found then, what stays as it was, and that it can be
undone.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kgagent import InputError, KnowledgeGraph, MigrationStoppedError, Settings, StoreError
from kgagent.adapters.view import Vocabulary, build_view, file_page
from kgagent.cli.app import app
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import Statement
from kgagent.graph.store import Parameters, Row, Store
from kgagent.ontology import Ontology, dump_ontology, load_ontology
from tests.support.foreign_graphs import (
    GRAPHITI,
    GRAPHRAG,
    HOSPITAL,
    LANGCHAIN,
    MOVIES,
    ForeignGraph,
)
from tests.support.payloads import error_of, succeeded
from tests.support.shared_server import NEO4J_VERSION, QuickLocalNeo4j, Server
from tests.support.stored import cypher

USER = "curator"
DIMENSIONS = 64

GRAPHS = {
    "plain Cypher": MOVIES,
    "langchain-neo4j": LANGCHAIN,
    "neo4j-graphrag": GRAPHRAG,
    "graphiti": GRAPHITI,
    "an ETL job": HOSPITAL,
}


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose only graph is that of the test: adopting reads all nodes, and its indexes have
    one ontology.
    """
    local = QuickLocalNeo4j(tmp_path_factory.mktemp("home"), version=NEO4J_VERSION)
    info = local.up()
    yield Server(info.uri, info.username, info.password)
    local.down()


@pytest.fixture
async def foreign(own_server: Server) -> AsyncIterator[KnowledgeGraph]:
    """The empty database, opened with the default ontology and without a schema, as `kgagent adopt`
    opens it.
    """
    async with opened(own_server) as graph:
        await cypher(graph, "MATCH (n) DETACH DELETE n")
        for kind in ("CONSTRAINT", "INDEX"):
            for row in await cypher(graph, f"SHOW {kind}"):
                if row["type"] != "LOOKUP":
                    await cypher(graph, f"DROP {kind} {Identifier(row['name'])} IF EXISTS")
        yield graph


def opened(server: Server, ontology: Ontology | None = None) -> Any:
    return KnowledgeGraph.connect(
        server.uri,
        username=server.username,
        password=server.password,
        settings=Settings(),
        embedder=HashingEmbedder(DIMENSIONS),
        ontology=ontology,
        ensure_schema=ontology is not None,
    )


async def written(graph: KnowledgeGraph, foreign: ForeignGraph) -> None:
    for text in foreign.writes:
        await cypher(graph, text, **foreign.parameters)


async def everything(graph: KnowledgeGraph) -> dict[str, Any]:
    """All nodes, relationships, constraints and indexes, with all that they have."""
    return {
        "nodes": await cypher(
            graph,
            "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties "
            "ORDER BY id",
        ),
        "relationships": await cypher(
            graph,
            "MATCH (a)-[r]->(b) RETURN elementId(r) AS id, type(r) AS type, elementId(a) AS a, "
            "elementId(b) AS b, "
            "properties(r) AS properties ORDER BY id",
        ),
        "constraints": await cypher(
            graph, "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties"
        ),
        "indexes": await cypher(
            graph, "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options"
        ),
    }


def without_additions(state: dict[str, Any]) -> Any:
    """What the nodes and relationships had before: their labels, types and ends, and all properties
    of their own.
    """
    return [
        {
            **record,
            "properties": {
                name: value
                for name, value in record["properties"].items()
                if name not in record["properties"].get("kgagent_adopted", ()) and name not in ADDED
            },
        }
        for record in (*state["nodes"], *state["relationships"])
        if record.get("labels") != ["KgagentStatement"]
    ]


def _content(record: dict[str, Any]) -> str:
    """What a restored record has: all but ids, which are new."""
    return repr((record.get("labels"), record.get("type"), sorted(record["properties"].items())))


ADDED = {
    *(
        "kgagent_adopted",
        "kgagent_adopted_hashes",
        "kgagent_embedding",
        "relationship_embedding",
        "embedding_hash",
        "embedding_model",
    ),
    *("statements_hash", "notes_text", "relationship_key", "version", "is_reversed"),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.neo4j_5] if name == "neo4j-graphrag" else [])
        for name in GRAPHS
    ],
)
async def test_a_graph_of_another_program_is_found_in_place_and_is_as_before_when_undone(
    name: str, foreign: KnowledgeGraph, own_server: Server, tmp_path: Path
) -> None:
    other = GRAPHS[name]
    await written(foreign, other)
    before = await everything(foreign)

    planned = await foreign.adopt(user_id=USER, dry_run=True)
    assert await everything(foreign) == before
    file = tmp_path / "ontology.yaml"
    file.write_text(dump_ontology(planned.ontology), "utf-8")
    assert load_ontology(file) == planned.ontology
    for label, properties in other.names.items():
        assert planned.ontology.labels[label].name_from == properties

    report = await foreign.adopt(user_id=USER, ontology=file)
    assert report.migration is not None
    assert report.migration.total.embedded == report.texts
    after = await everything(foreign)
    assert without_additions(after) == without_additions(before)
    assert [row for row in before["constraints"] if row not in after["constraints"]] == []

    async with opened(own_server, report.ontology) as graph:
        tools = graph.tools(user_id=USER)
        found = await tools.hybrid_search.call_text({"query": other.question})
        assert found.text.startswith(other.answer), found.text
        is_first = {
            "type": "PROPERTY_EQUALS",
            "property_path": "name",
            "value": other.found[0],
            "at_step": "start",
        }
        matched = succeeded(
            await tools.query_patterns(patterns=[{"steps": other.steps, "constraints": [is_first]}])
        )
        names = {node["entity_key"]: node["name"] for node in matched["nodes"]}
        assert {tuple(names[key] for key in path["nodes"]) for path in matched["paths"]} == {
            tuple(other.found)
        }
        start, end = other.ends
        joined = await tools.find_paths.call_text({"from_entity_key": start, "to_entity_key": end})
        assert other.path in joined.text
        answer = succeeded(await tools.explore(queries=[other.question]))
        assert [text for text in other.explored if text not in str(answer)] == []
        found = await graph.search(other.question, user_id=USER)
        view = await build_view(graph.retrieval, found, user_id=USER, query=other.question)
        page = file_page(view, Vocabulary.of(graph.ontology), USER)
        assert other.answer.partition(" (")[0] in page
        findings = (await graph.diagnose()).findings
        assert planned.skipped or {finding.severity for finding in findings} <= {"info"}
        again = await graph.migrate()
        assert (again.total.embedded, again.total.updated) == (0, 0)

    undone = await foreign.undo_adoption(user_id=USER)
    assert undone.kept == 0
    assert await everything(foreign) == before


async def test_what_cannot_be_adopted_is_named_with_what_to_do(foreign: KnowledgeGraph) -> None:
    await written(foreign, HOSPITAL)
    plan = await foreign.adopt(user_id=USER, dry_run=True)
    skipped = {one.what.partition(" (")[0]: one for one in plan.skipped}
    assert skipped.keys() == {"Patient", "Visit", "ADMITTED_TO", "CONSULTS"}
    assert str(skipped["Patient"]) == (
        "Patient (1): kgagent needs the property 'version' for something else; store theirs under "
        "another name: MATCH (n:`Patient`) WHERE n.`version` IS NOT NULL SET n.`own version` = "
        "n.`version` REMOVE n.`version`"
    )
    assert plan.labels["Patient"] == 1
    assert "'user_id'" in skipped["Visit"].why
    assert skipped["ADMITTED_TO"].why == "they start or end at nodes that are not adopted"
    assert skipped["CONSULTS"].why.startswith("they start and end at the same node")
    await cypher(foreign, "MATCH (n:Patient) SET n.`own version` = n.version REMOVE n.version")
    assert (await foreign.adopt(user_id=USER, dry_run=True)).labels["Patient"] == 2
    of_ward = "MATCH (:Doctor)-[r:WORKS_ON]->(:Ward)"
    await cypher(foreign, f"{of_ward} SET r.version = 2")
    with pytest.raises(
        InputError,
        match=r"WORKS_ON \(1\): kgagent needs .*'version'.*; or remove it from the ontology",
    ):
        await foreign.adopt(user_id=USER, ontology=plan.ontology)
    await cypher(foreign, f"{of_ward} REMOVE r.version")
    with pytest.raises(
        InputError,
        match=r"must have `adopted_for: another` and .*, got curator and kgagent_embedding",
    ):
        await foreign.adopt(user_id="another", ontology=plan.ontology)
    await cypher(foreign, "MATCH (n) WHERE NOT n:Visit DETACH DELETE n")
    with pytest.raises(InputError, match=r"nothing to adopt: .*Visit \(1\): "):
        await foreign.adopt(user_id=USER, dry_run=True)


BAD_RECORDS = {
    "two nodes with one own key": (
        [
            "CREATE (:Person {name: 'Ada', entity_key: 'a'}), (:Person {name: 'Bo', entity_key: 'a'})"
        ],
        ["Person (2)"],
        "another node has the same entity_key",
    ),
    "equal keys under two labels": (
        ["CREATE (:Person {name: 'Ada', entity_key: 'a'}), (:Film {name: 'Bo', entity_key: 'a'})"],
        ["Person (1)", "Film (1)"],
        "another node has the same entity_key",
    ),
    "a unique name": (
        [
            "CREATE CONSTRAINT named FOR (p:Person) REQUIRE p.name IS UNIQUE",
            "CREATE (:Person {about: 'Sails'}), (:Person {about: 'Sails'})",
        ],
        ["Person (2)"],
        "a constraint of another program keeps 'name' unique",
    ),
    "a unique owner": (
        [
            "CREATE CONSTRAINT owned FOR ()-[r:OWNS]-() REQUIRE r.user_id IS UNIQUE",
            "MATCH (a:Person), (b:Film) CREATE (a)-[:OWNS]->(b)",
        ],
        ["OWNS (4)"],
        "a constraint of another program keeps 'user_id' unique",
    ),
    "no relationships": (["MATCH ()-[r]->() DELETE r"], [], ""),
}


@pytest.mark.parametrize("case", BAD_RECORDS)
async def test_a_bad_record_costs_only_itself_and_the_dry_run_says_so(
    case: str, foreign: KnowledgeGraph, own_server: Server
) -> None:
    writes, skipped, why = BAD_RECORDS[case]
    await cypher(
        foreign,
        "UNWIND ['Ilse', 'Noor'] AS name CREATE (p:Person {name: name}) "
        "WITH collect(p) AS people UNWIND ['Tide', 'Salt'] AS title CREATE (f:Film {title: title}) "
        "WITH people, f UNWIND people AS p CREATE (p)-[:LIKES]->(f)",
    )
    for text in writes:
        await cypher(foreign, text)
    before = await everything(foreign)
    planned = await foreign.adopt(user_id=USER, dry_run=True)
    assert [one.what for one in planned.skipped] == skipped
    assert all(why in one.why for one in planned.skipped)
    report = await foreign.adopt(user_id=USER)
    assert report.model_copy(update={"migration": None, "seconds": planned.seconds}) == planned
    assert report.migration is not None
    assert (report.migration.total.embedded, report.migration.total.skipped) == (planned.texts, 0)
    async with opened(own_server, report.ontology) as graph:
        found = await graph.tools(user_id=USER).hybrid_search.call_text({"query": "Noor"})
        assert "Noor (Person" in found.text
    await foreign.undo_adoption(user_id=USER)
    assert await everything(foreign) == before


async def test_what_is_written_later_is_adopted_by_a_migration_and_what_tools_wrote_stays(
    foreign: KnowledgeGraph, own_server: Server
) -> None:
    await written(foreign, MOVIES)
    report = await foreign.adopt(user_id=USER)
    async with opened(own_server, report.ontology) as graph:
        tools = graph.tools(user_id=USER)
        # Of several types between two labels, a word that reads like one of them decides.
        refused = await tools.create_relationship(
            from_entity_key="Ilse Brandt",
            to_entity_key="Nine Winters",
            relationship_type="financed",
        )
        assert "Several types connect Person and Movie: ACTED_IN, DIRECTED" in error_of(refused)
        succeeded(
            await tools.create_relationship(
                from_entity_key="Ilse Brandt",
                to_entity_key="Nine Winters",
                relationship_type="produced",
            )
        )
        succeeded(
            await tools.update_node(
                entity_key="Nine Winters", description="A family saga in the far north."
            )
        )
        await cypher(
            graph,
            "MATCH (m:Movie {title: 'The Salt Road'}) SET m.title = 'The Long Salt Road' "
            "CREATE (:Person {name: 'Wanda Kuhn'})-[:DIRECTED]->(m) "
            "WITH m MATCH (n:Movie {title: 'Nine Winters'}) SET n.tagline = 'Changed'",
        )
        findings = [finding.message for finding in (await graph.diagnose()).findings]
        assert any(message.startswith("1 of 8 nodes have no entity_key") for message in findings)
        migrated = await graph.migrate()
        assert (
            migrated.total.embedded == 2 + 4
        )  # Wanda and the film; what she directed, and what has its old name
        assert "Wanda Kuhn directed The Long Salt Road" in str(
            await tools.hybrid_search(query="Wanda Kuhn")
        )
        kept = await cypher(
            graph, "MATCH (m:Movie {title: 'Nine Winters'}) RETURN m.description AS text"
        )
        assert kept == [{"text": "A family saga in the far north."}]
        assert [
            finding for finding in (await graph.diagnose()).findings if finding.severity != "info"
        ] == []
    undone = await foreign.undo_adoption(user_id=USER)
    assert undone.kept == 0
    left = await cypher(
        foreign, "MATCH (n:Movie {title: 'Nine Winters'}) RETURN properties(n) AS properties"
    )
    assert left[0]["properties"].keys() == {"title", "released", "tagline"}
    produced = "MATCH ({name: 'Ilse Brandt'})-[r:PRODUCED]->() RETURN r.relationship_type AS type"
    assert await cypher(foreign, produced) == [{"type": "produced"}]


async def test_an_interrupted_adoption_is_resumed(
    foreign: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(foreign, MOVIES)
    before = await everything(foreign)
    read = Store.read_for_update

    async def failing(self: Store, text: str, parameters: Parameters) -> list[Row]:
        if isinstance(text, Statement) and text.name == "read_pairs":
            raise StoreError("The disk is full")
        return await read(self, text, parameters)

    with monkeypatch.context() as interrupted:
        # Nodes are embedded, and relationships adopted but not embedded.
        interrupted.setattr(Store, "read_for_update", failing)
        with pytest.raises(MigrationStoppedError, match="The disk is full") as stopped:
            await foreign.adopt(user_id=USER)
    assert (stopped.value.report.nodes.embedded, stopped.value.report.relationships.embedded) == (
        7,
        0,
    )
    resumed = await foreign.adopt(user_id=USER)
    assert resumed.migration is not None
    assert (resumed.migration.nodes.embedded, resumed.migration.relationships.embedded) == (0, 10)
    assert without_additions(await everything(foreign)) == without_additions(before)
    await foreign.undo_adoption(user_id=USER)
    assert await everything(foreign) == before


async def test_the_doctor_says_what_to_do_with_the_graph_of_another_program(
    foreign: KnowledgeGraph,
) -> None:
    await written(foreign, LANGCHAIN)
    findings = {finding.fix: finding.message for finding in (await foreign.diagnose()).findings}
    assert findings[
        "`kgagent adopt --dry-run` shows what making them searchable in place means"
    ] == (
        "3 nodes (Document 1, __Entity__:Organization 1, __Entity__:Place 1) of other programs, "
        "without a label of the ontology and without user_id"
    )
    assert any("2 of 2 nodes have no entity_key" in message for message in findings.values())


async def test_the_command_writes_the_ontology_first_and_reads_it_afterwards(
    foreign: KnowledgeGraph, own_server: Server, tmp_path: Path
) -> None:
    await written(foreign, MOVIES)
    file = tmp_path / "films.yaml"
    environment = {
        "NEO4J_URI": own_server.uri,
        "NEO4J_USERNAME": own_server.username,
        "NEO4J_PASSWORD": own_server.password,
        "KGAGENT_EMBEDDER": "hashing",
        "KGAGENT_ONTOLOGY": str(file),
    }

    async def run(*arguments: str, code: int = 0, **changes: str | None) -> str:
        given = {**environment, **changes}
        done = await asyncio.to_thread(
            CliRunner().invoke, app, arguments, env=given, catch_exceptions=False
        )
        assert done.exit_code == code, done.output
        return str(done.stdout or done.stderr)

    before = await everything(foreign)
    for command in ("search", "explore", "get"):
        assert "nodes of other programs and no graph" in await run(
            command, "x", code=1, KGAGENT_ONTOLOGY=None
        )
    planned = await run("adopt", "--user", USER, "--dry-run")
    assert "ACTED_IN" in planned
    assert "17 texts to embed, about" in planned
    assert await everything(foreign) == before
    file.write_text(
        file.read_text("utf-8").replace("text_from: [tagline, released]", "text_from: []"), "utf-8"
    )
    report = json.loads(await run("adopt", "--user", USER, "--json"))
    assert report["migration"]["total"]["embedded"] == 17
    assert (
        await cypher(foreign, "MATCH (m:Movie) WHERE m.description IS NOT NULL RETURN m.title")
        == []
    )
    found = await run("search", "lighthouse keeper", "--user", USER)
    assert found.startswith("Noor Haddad (Person) -[acted in]-> Harbour of Glass (Movie)")
    adopted = await everything(foreign)
    for command in ("search x", "init", "migrate"):
        error = await run(*command.split(), code=1, KGAGENT_ONTOLOGY=None)
        assert "made for another ontology, which has ACTED_IN" in " ".join(error.split())
    error = await run("migrate", "--rebuild-indexes", code=1, KGAGENT_ONTOLOGY=None)
    assert "nodes were adopted with another ontology. Set KGAGENT_ONTOLOGY" in " ".join(
        error.split()
    )
    assert await everything(foreign) == adopted
    assert "17 records restored; constraints and indexes were dropped" in await run(
        "adopt", "--user", USER, "--undo"
    )
    assert await everything(foreign) == before


async def test_what_another_program_wrote_to_an_adopted_record_stays(
    foreign: KnowledgeGraph, own_server: Server
) -> None:
    await written(foreign, MOVIES)
    await cypher(foreign, "CREATE INDEX kgagent_films FOR (m:Movie) ON (m.tagline)")
    report = await foreign.adopt(user_id=USER)
    await cypher(
        foreign,
        "MATCH (m:Movie {title: 'Nine Winters'}) SET m.name = 'Neun Winter', m.user_id = 'x'",
    )
    await cypher(foreign, "MATCH (m:Movie {title: 'The Salt Road'}) SET m.name = 'Salzstrasse'")
    async with opened(own_server, report.ontology) as graph:
        await graph.migrate()
    await foreign.undo_adoption(user_id=USER)
    rows = await cypher(
        foreign,
        "MATCH (m:Movie) WHERE m.name IS NOT NULL "
        "RETURN m {.*, title: null, tagline: null, released: null} AS own ORDER BY m.name",
    )
    stayed = [{k: v for k, v in row["own"].items() if v is not None} for row in rows]
    assert stayed == [{"name": "Neun Winter", "user_id": "x"}, {"name": "Salzstrasse"}]
    names = {row["name"] for row in await cypher(foreign, "SHOW INDEXES")}
    assert {name for name in names if name.startswith("kgagent_")} == {"kgagent_films"}


async def test_tools_and_undoing_leave_the_properties_that_another_program_wrote(
    foreign: KnowledgeGraph, own_server: Server
) -> None:
    await written(foreign, HOSPITAL)
    await cypher(
        foreign,
        "MATCH (d:Doctor {name: 'Lena Vogt'})-[r:WORKS_ON]->() "
        "SET d += {updated_at: 'May', aliases: ['L. V.'], history: 'Hired'}, r.`when` = 'Mondays'",
    )
    before = await everything(foreign)
    report = await foreign.adopt(user_id=USER)
    async with opened(own_server, report.ontology) as graph:
        tools = graph.tools(user_id=USER)
        doctor, ward = "Lena Vogt", "Cardiology North"
        refused = error_of(await tools.update_node(entity_key=doctor, aliases=["Dr. Vogt"]))
        assert "aliases of Lena Vogt was written by another program" in refused
        renamed = await tools.update_node(entity_key="Samuel Osei", name="Sam Osei")
        assert "name of Samuel Osei was written by another program" in error_of(renamed)
        noted = await tools.update_node(entity_key=doctor, notes=["Likes tea"])
        assert "Say it in another field, such as description" in error_of(noted)
        succeeded(await tools.update_node(entity_key=doctor, description="A calm cardiologist"))
        succeeded(await tools.update_node(entity_key="Omar Said", notes=["Likes tea"]))
        pair = {"from_entity_key": doctor, "to_entity_key": ward}
        assert "when of " in error_of(await tools.update_relationship(**pair, when="2024"))
        succeeded(await tools.update_relationship(**pair, relationship_type="leads", attitude=5))
        await graph.migrate()
        kept = await cypher(graph, "MATCH (d:Doctor {name: 'Lena Vogt'}) RETURN d.description AS d")
        assert kept == [{"d": "A calm cardiologist"}]
    assert without_additions(await everything(foreign)) == without_additions(before)
    await foreign.undo_adoption(user_id=USER)
    assert await everything(foreign) == before


async def test_what_a_tool_writes_to_a_relationship_before_it_is_adopted_is_undone_too(
    foreign: KnowledgeGraph, own_server: Server
) -> None:
    await written(foreign, MOVIES)
    report = await foreign.adopt(user_id=USER)
    new = "MATCH (:Person {name: 'Ilse Brandt'})-[r:DIRECTED]->(:Movie {title: 'Nine Winters'})"
    await cypher(
        foreign,
        "MATCH (p:Person {name: 'Ilse Brandt'}), (m:Movie {title: 'Nine Winters'}) "
        "CREATE (p)-[:DIRECTED {year: 2011}]->(m)",
    )
    async with opened(own_server, report.ontology) as graph:
        succeeded(
            await graph.tools(user_id=USER).update_relationship(
                from_entity_key="Ilse Brandt",
                to_entity_key="Nine Winters",
                neo4j_type="DIRECTED",
                description="In a single winter",
            )
        )
        [stored] = await cypher(graph, f"{new} RETURN r.description AS text, r.user_id AS owner")
        assert stored == {"text": "In a single winter", "owner": USER}
    assert (await foreign.undo_adoption(user_id=USER)).kept == 0
    assert await cypher(foreign, f"{new} RETURN properties(r) AS r") == [{"r": {"year": 2011}}]


async def test_what_tools_deleted_of_another_program_is_restored_before_undoing(
    foreign: KnowledgeGraph, own_server: Server
) -> None:
    await written(foreign, MOVIES)
    before = without_additions(await everything(foreign))
    report = await foreign.adopt(user_id=USER)
    async with opened(own_server, report.ontology) as graph:
        tools, deleted = graph.tools(user_id=USER), {"entity_key": "Ilse Brandt"}
        succeeded(await tools.delete_node(**deleted, delete_relationships=True))
        with pytest.raises(InputError, match=r"deleted or merged \d records of other programs"):
            await foreign.undo_adoption(user_id=USER)
        succeeded(await tools.restore(**deleted))
    assert (await foreign.undo_adoption(user_id=USER)).kept == 0
    after = without_additions(await everything(foreign))
    assert sorted(map(_content, after)) == sorted(map(_content, before))


async def test_undoing_keeps_what_another_program_writes_meanwhile(
    foreign: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(foreign, MOVIES)
    await foreign.adopt(user_id=USER)
    write, late = (
        Store.write,
        ["MATCH (m:Movie) SET m.version = 7", "MATCH (m:Movie) SET m.name = 'x'"],
    )

    async def after_another(self: Store, text: str, parameters: Parameters, **options: Any) -> Any:
        if isinstance(text, Statement) and text.name == "write_foreign_nodes" and late:
            await write(self, late.pop(), {})
        return await write(self, text, parameters, **options)

    monkeypatch.setattr(Store, "write", after_another)
    await foreign.undo_adoption(user_id=USER)
    assert late == []
    [row] = await cypher(
        foreign, "MATCH (m:Movie) UNWIND keys(m) AS k RETURN collect(DISTINCT k) AS names"
    )
    assert set(row["names"]) == {"title", "released", "tagline", "name", "version"}


async def test_days_become_the_time_of_a_relationship_and_days_and_numbers_its_text(
    foreign: KnowledgeGraph, own_server: Server
) -> None:
    await cypher(
        foreign,
        """
        CREATE (ana:Person {name: 'Ana Ribeiro', born: 1964}), (farm:Firm {name: 'Quinta', founded: date('1951-04-02')}),
          (mill:Firm {name: 'Moinho', founded: date('1911-01-09')}), (rui:Person {name: 'Rui Tavares', born: 1990}),
          (ana)-[:WORKED_AT {valid_at: datetime('2015-03-01T08:00Z'), invalid_at: datetime('2019-06-30T17:00Z'), hours: 38.5}]->(farm),
          (ana)-[:WORKED_AT {valid_at: datetime('2019-07-01T08:00Z'), hours: 20}]->(mill),
          (rui)-[:WORKED_AT {invalid_at: datetime('2018-01-31T08:00Z'), hours: 30}]->(farm),
          (rui)-[:WORKED_AT {valid_at: datetime('2024-01-01T08:00Z'), invalid_at: datetime('2020-01-01T08:00Z')}]->(mill),
          (ana)-[:KNOWS {since: 2001}]->(rui), (ana)-[:BOUGHT {date: '2018-05-04', amount: 500}]->(mill)
        """,
    )
    before = await everything(foreign)
    planned = await foreign.adopt(user_id=USER, dry_run=True)
    kinds = planned.ontology.relationships
    assert {name: kind.when_from for name, kind in kinds.items()} == {
        "WORKED_AT": "valid_at/invalid_at",
        "KNOWS": "since/..",
        "BOUGHT": "date",
    }
    report = await foreign.adopt(user_id=USER)
    rows = await cypher(
        foreign,
        "MATCH (a)-[r]->(b) WHERE r.user_id IS NOT NULL "
        "RETURN r.description AS text, r.`when` AS time, r.when_latest AS latest",
    )
    assert {row["text"]: (row["time"], row["latest"]) for row in rows} == {
        "Ana Ribeiro worked at Quinta; hours: 38.5": ("2015-03-01/2019-06-30", 20190630),
        "Ana Ribeiro worked at Moinho; hours: 20": ("2019-07-01/..", 99991231),
        "Rui Tavares worked at Quinta; hours: 30": ("../2018-01-31", 20180131),
        # It would end before it began.
        "Rui Tavares worked at Moinho": (None, None),
        "Ana Ribeiro knows Rui Tavares": ("2001/..", 99991231),
        "Ana Ribeiro bought Moinho; amount: 500": ("2018-05-04", 20180504),
    }
    described = await cypher(foreign, "MATCH (n:Firm|Person) RETURN n.description AS text")
    assert {"born: 1964", "founded: 1951-04-02"} <= {row["text"] for row in described}
    async with opened(own_server, report.ontology) as graph:
        tools = graph.tools(user_id=USER)
        asked = {"query": "Where did Ana Ribeiro work?", "as_of": "2016-05"}
        then = (await tools.hybrid_search.call_text(asked)).text
        assert "Quinta" in then
        assert "hours: 20" not in then
        ended = "MATCH ()-[r:WORKED_AT {hours: 20}]->() SET r.invalid_at = date('2025-02-03')"
        await cypher(graph, ended)
        await graph.migrate()
        time = (
            "MATCH ()-[r:WORKED_AT {hours: 20}]->() RETURN r.`when` AS time, r.when_latest AS day"
        )
        assert await cypher(graph, time) == [{"time": "2019-07-01/2025-02-03", "day": 20250203}]
        await cypher(graph, "MATCH ()-[r:WORKED_AT {hours: 20}]->() REMOVE r.invalid_at")
    await foreign.undo_adoption(user_id=USER)
    assert await everything(foreign) == before


async def test_lists_and_better_names_are_other_names_and_configuration_is_left_out(
    foreign: KnowledgeGraph, own_server: Server
) -> None:
    await cypher(
        foreign,
        """
        CREATE (:Person {labels: ['Q7', 'Ana Ribeiro', 'Anita'], city: 'Porto'})-[:OWNS]->(:Boat {name: 'Boat', mark: 'Sea Lark'}),
          (:Person {labels: ['Q8', 'Rui Tavares'], city: 'Porto'})-[:OWNS]->(:Boat {name: 'Boat', mark: 'Tide Wren'}),
          (:Person {labels: ['Q9', 'Eva Sousa'], city: 'Braga'}), (:Boat {name: 'Boat', mark: 'Salt Star'}),
          (:Settings {theme: 'dark'})
        """,
    )
    before = await everything(foreign)
    report = await foreign.adopt(user_id=USER)
    assert report.labels == {"Boat": 3, "Person": 3}
    assert [str(one).partition(", such")[0] for one in report.skipped] == [
        "Settings (1): the only node of its label, without relationships"
    ]
    names = "MATCH (n:Person|Boat) RETURN n.name AS name, n.aliases AS aliases"
    assert {(row["name"], *row["aliases"]) for row in await cypher(foreign, names)} == {
        ("Ana Ribeiro", "Anita", "Q7"),
        ("Rui Tavares", "Q8"),
        ("Eva Sousa", "Q9"),
        ("Boat", "Sea Lark"),
        ("Boat", "Tide Wren"),
        ("Boat", "Salt Star"),
    }
    async with opened(own_server, report.ontology) as graph:
        owns = {"from_entity_key": "Anita", "to_entity_key": "Sea Lark", "format": "json"}
        known = succeeded(await graph.tools(user_id=USER).get_relationship(**owns))
        assert known["triplet"] == "Ana Ribeiro owns Boat"
    with_settings = report.ontology.model_dump(by_alias=True)
    with_settings["labels"]["Settings"] = {}
    planned = await foreign.adopt(
        user_id=USER, ontology=Ontology.model_validate(with_settings), dry_run=True
    )
    assert planned.labels["Settings"] == 1
    await foreign.undo_adoption(user_id=USER)
    assert await everything(foreign) == before


PAID = """
CREATE (nord:Firm {name: 'Nord'}), (alp:Firm {name: 'Alp'}),
  (alp)-[:PAID {amount: 50, day: '2024-01-10'}]->(nord),
  (alp)-[:PAID {amount: 70, day: '2024-03-01'}]->(nord),
  (nord)-[:PAID {amount: 20, day: '2024-02-02'}]->(alp)
"""


@pytest.fixture
async def firms(foreign: KnowledgeGraph, own_server: Server) -> AsyncIterator[KnowledgeGraph]:
    """Two firms, of which one paid twice and the other once."""
    await cypher(foreign, PAID)
    report = await foreign.adopt(user_id=USER)
    async with opened(own_server, report.ontology) as graph:
        yield graph


async def amounts(graph: KnowledgeGraph) -> dict[int, dict[str, Any]]:
    rows = await cypher(graph, "MATCH ()-[r:PAID]->() RETURN properties(r) AS paid")
    return {row["paid"]["amount"]: row["paid"] for row in rows}


async def test_each_of_several_relationships_between_two_nodes_is_found(
    firms: KnowledgeGraph,
) -> None:
    tools = firms.tools(user_id=USER)
    for answer in (
        (await tools.hybrid_search(query="Who paid Nord?", format="json"))["relationships"],
        (await tools.explore(queries=["Who paid Nord?"], format="json"))["edges"],
        [
            step["relationships"][0]
            for step in (
                await tools.find_paths(from_entity_key="Nord", to_entity_key="Alp", format="json")
            )["paths"]
        ],
    ):
        assert len(answer) == 3, answer
    text = (await tools.hybrid_search.call_text({"query": "Who paid Nord?"})).text
    for paid in ("amount: 50", "amount: 70", "amount: 20"):
        assert paid in text
    assert text.count("Alp (Firm) -[paid]-> Nord") + text.count("Alp -[paid]-> Nord") == 2


async def test_get_relationship_lists_several_with_the_ids_that_choose_one(
    firms: KnowledgeGraph,
) -> None:
    tools = firms.tools(user_id=USER)
    ends = {"from_entity_key": "Nord", "to_entity_key": "Alp"}
    listed = await tools.get_relationship(**ends, format="json")
    assert listed["message"] == (
        "3 relationships between Nord and Alp; relationship_id chooses one"
    )
    by_amount = {
        one["properties"]["amount"]: one["relationship_id"] for one in listed["relationships"]
    }
    assert by_amount.keys() == {50, 70, 20}
    text = (await tools.get_relationship.call_text(ends)).text
    assert all(f"[relationship_id {one}]" in text for one in by_amount.values())
    for amount, relationship_id in by_amount.items():
        chosen = await tools.get_relationship(
            **ends, relationship_id=relationship_id, format="json"
        )
        assert chosen["relationship"]["properties"]["amount"] == amount
    unknown = error_of(await tools.get_relationship(**ends, relationship_id="0"))
    assert "No relationship between Nord" in unknown
    assert by_amount[20] in unknown


async def test_a_write_changes_one_of_several_only_if_it_is_clear_which(
    firms: KnowledgeGraph,
) -> None:
    tools = firms.tools(user_id=USER)
    before = await amounts(firms)
    forth = {"from_entity_key": "Alp", "to_entity_key": "Nord"}
    back = {"from_entity_key": "Nord", "to_entity_key": "Alp"}
    note = {"on": ["Alp", "Nord"], "content": "Paid late."}
    for refused in (
        await tools.update_relationship(**forth, description="Rent."),
        await tools.add_note_to_relationship(**forth, content="Late."),
        await tools.delete_relationship(**forth),
        await tools.remember(notes=[note]),
        await tools.remember(
            relationships=[{"from": "Alp", "to": "Nord", "relationship_type": "paid"}]
        ),
    ):
        error = error_of(refused)
        assert "There are 2 PAID relationships between Alp" in error
        assert "give relationship_id to choose one: " in error
    assert await amounts(firms) == before
    # One relationship alone leads from Nord to Alp.
    succeeded(await tools.update_relationship(**back, description="A refund."))
    after = await amounts(firms)
    assert after[20]["description"] == "A refund."
    assert (after[50], after[70]) == (before[50], before[70])
    found = await firms.search("Who paid Nord?", user_id=USER)
    view = await build_view(firms.retrieval, found, user_id=USER, query="Who paid Nord?")
    shown = {one.relationship.properties["amount"]: one.history for one in view.relationships}
    assert {amount: bool(history) for amount, history in shown.items()} == {
        50: False,
        70: False,
        20: True,
    }
    listed = (await tools.get_relationship(**forth, format="json"))["relationships"]
    [chosen] = [one for one in listed if one["properties"]["amount"] == 70]
    which = {**forth, "relationship_id": chosen["relationship_id"]}
    succeeded(await tools.add_note_to_relationship(**which, content="It came late."))
    note = {
        "on": ["Alp", "Nord"],
        "content": "In cash.",
        "relationship_id": which["relationship_id"],
    }
    succeeded(await tools.remember(notes=[note]))
    written = await amounts(firms)
    assert "In cash." in written[70]["notes"]
    assert "notes" not in {*written[50], *written[20]}
    succeeded(await tools.delete_relationship(**which))
    assert (await amounts(firms)).keys() == {50, 20}
    succeeded(await tools.delete_relationship(**back))
    assert (await amounts(firms)).keys() == {50}
    for ends in (back, which):
        succeeded(await tools.restore(**ends))
    restored = await amounts(firms)
    assert restored.keys() == {50, 70, 20}
    assert {one: paid["relationship_key"] for one, paid in restored.items()} == {
        one: paid["relationship_key"] for one, paid in before.items()
    }
    assert error_of(await tools.restore(**back)).startswith("A relationship between")


async def test_relationships_of_another_program_keep_their_direction_and_do_not_hide_others(
    foreign: KnowledgeGraph, own_server: Server
) -> None:
    await cypher(
        foreign,
        "CREATE (n:Firm {name: 'Nord'})-[:PAID]->(:Firm {name: 'Alp'}), (o:Firm {name: 'Ost'}) "
        "WITH n, o UNWIND range(1, 5) AS amount CREATE (n)-[:PAID {amount: amount}]->(o)",
    )
    report = await foreign.adopt(user_id=USER)
    async with opened(own_server, report.ontology) as graph:
        tools = graph.tools(user_id=USER)
        item = {"from": "Alp", "to": "Nord", "relationship_type": "invoiced"}
        succeeded(await tools.remember(relationships=[item]))
        ends = {"from_entity_key": "Alp", "to_entity_key": "Nord"}
        known = await tools.get_relationship(**ends, format="json")
        assert known["triplet"] == "Nord paid Alp"
        assert [note["content"] for note in known["relationship"]["notes"]] == ["Alp invoiced Nord"]
        for limit, is_complete in ((1, False), (2, True)):
            reached = await tools.traverse(entity_key="Nord", hops=1, limit=limit, format="json")
            assert (reached["is_complete"], reached["total"]) == (is_complete, limit)
