"""A user's graph with a value of every type that Neo4j stores, notes, deleted records and the
progress of ingestion.
"""

from typing import Any

from kgagent import KnowledgeGraph
from kgagent.graph.identifiers import Identifier
from tests.support.payloads import succeeded
from tests.support.people import node, person, relate
from tests.support.stored import cypher

EVERY_TYPE = """
SET item.truth = true, item.truths = [true, false],
  item.small = 7, item.large = 9223372036854775807, item.least = -9223372036854775807 - 1, item.odd = 9007199254740993,
  item.numbers = [1, 9007199254740993], item.float = 0.1, item.whole = 3.0, item.huge = 1.7976931348623157e308,
  item.tiny = 5e-324, item.minus_zero = -0.0, item.nan = 0.0 / 0.0, item.infinite = 1.0 / 0.0,
  item.minus_infinite = -1.0 / 0.0, item.floats = [1.0, 0.1, 0.0 / 0.0], item.bytes = $bytes, item.nothing = [],
  item.text = 'line\\nend\\u2028 "quoted" \\\\ ünï 🐝', item.texts = ['', 'a'],
  item.date = date('2024-02-29'), item.early = date('-0044-03-15'), item.late = date('+12345-01-01'),
  item.dates = [date('2024-02-29'), date('+12345-01-01')],
  item.local_time = localtime('12:00:00.123456789'), item.time = time('12:00:00.1+02:00'),
  item.local_datetime = localdatetime('2024-01-01T00:00:00.000000001'),
  item.zone = datetime('2024-10-27T02:30:00+01:00[Europe/Berlin]'),
  item.summer = datetime('2024-10-27T02:30:00+02:00[Europe/Berlin]'), item.utc = datetime('2024-01-01T00:00Z'),
  item.moments = [datetime('2024-01-01T00:00+05:30')], item.times = [localtime('12:00'), localtime('13:00')],
  item.duration = duration({months: -14, days: 3, seconds: -5, nanoseconds: 500000001}),
  item.durations = [duration('P1Y2M3DT4.5S')],
  item.place = point({latitude: 1.5, longitude: 2, height: 3}), item.spot = point({latitude: -1.5, longitude: 2}),
  item.flat = point({x: 1, y: 2}), item.points = [point({x: 1, y: 2, z: 0.1})],
  item.notes_embedding = [1.0, 0.5], item.description_embedding = [0.1]
"""


async def plant_varied_graph(graph: KnowledgeGraph, user_id: str) -> None:
    """Six nodes, seven relationships, and what is kept of two deleted nodes and three deleted
    relationships.
    """
    tools = graph.tools(user_id=user_id)
    source = await node(tools, "Source", "Diary", "A diary")
    noted = [
        {"content": "Met in Rome", "source_entity_key": source},
        {"content": "Sails", "lifetime": "month"},
    ]
    ruth, ines, cal = [
        await person(tools, name, notes=noted, aliases=[f"{name} B."])
        for name in ("Ruth", "Ines", "Cal")
    ]
    chess, club = await node(tools, "Concept", "Chess"), await node(tools, "Entity", "Club")
    for first, second in ((ruth, ines), (ruth, cal), (ines, cal)):
        await relate(tools, first, second, notes=noted, attitude=4)
    for player in (ruth, ines):
        await relate(tools, player, chess, relationship_type="plays")
    await relate(tools, ruth, club, relationship_type="member")
    succeeded(await tools.delete_relationship(from_entity_key=ines, to_entity_key=cal))
    gone = await person(tools, "Gone", notes=noted)
    await relate(tools, gone, ruth, notes=noted)
    await relate(tools, gone, chess)
    succeeded(await tools.delete_node(entity_key=gone, delete_relationships=True))
    succeeded(await tools.delete_node(entity_key=await person(tools, "Lost")))
    await cypher(
        graph,
        "MATCH (item:Person {user_id: $user, name: 'Ruth'}) SET item:Extra " + EVERY_TYPE,
        user=user_id,
        bytes=bytes(range(256)),
    )
    await cypher(
        graph,
        "MATCH (:Person {user_id: $user, name: 'Ruth'})-[item]-(:Entity {user_id: $user}) "
        + EVERY_TYPE,
        user=user_id,
        bytes=b"",
    )
    await cypher(
        graph,
        "MATCH (n:Source {user_id: $user}) SET n.ingestion_run = 'run', n.ingestion_progress = "
        "$progress "
        "WITH n MATCH (a:Person {user_id: $user, name: 'Ines'}), (b:Person {user_id: $user, name: "
        "'Cal'}) "
        "CREATE (a)-[:SEEN_BY_ANOTHER_PROGRAM {at: date('2024-01-01')}]->(b), "
        "(a)-[:SEEN_BY_ANOTHER_PROGRAM]->(b) ",
        user=user_id,
        progress='{"part_tokens": 100, "parts": ["read", "unread"]}',
    )


async def snapshot(graph: KnowledgeGraph, user_id: str) -> list[Any]:
    """Every stored property of the user's records, as the database prints it, without the user."""
    labels = Identifier.any_of(
        [*graph.ontology.labels, "KgagentDeletedNode", "KgagentDeletedRelationship"]
    )
    printed = (
        "[name IN keys({0}) WHERE name <> 'user_id' | [name, valueType({0}[name]), CASE "
        "WHEN {0}[name] IS :: LIST<ANY> THEN [one IN {0}[name] | toString(one)] ELSE "
        "[toString({0}[name])] END]]"
    )
    nodes = await cypher(
        graph,
        f"MATCH (n:{labels}) WHERE n.user_id = $user "
        f"RETURN labels(n) AS what, n.entity_key AS start, '' AS end, {printed.format('n')} AS "
        f"properties",
        user=user_id,
    )
    relationships = await cypher(
        graph,
        f"MATCH (a:{labels})-[r]->(b) WHERE a.user_id = $user AND b.user_id = $user "
        "RETURN [type(r), r.user_id IS NULL] AS what, a.entity_key AS start, b.entity_key AS end, "
        f"{printed.format('r')} AS properties",
        user=user_id,
    )
    return sorted(
        repr(
            (
                sorted(map(str, row["what"])),
                row["start"],
                row["end"],
                sorted(row["properties"], key=str),
            )
        )
        for row in (*nodes, *relationships)
    )


async def forget_by_hand(graph: KnowledgeGraph, user_id: str) -> None:
    """Delete all records of a user with plain Cypher."""
    labels = Identifier.any_of(
        [*graph.ontology.labels, "KgagentDeletedNode", "KgagentDeletedRelationship"]
    )
    await cypher(graph, f"MATCH (n:{labels}) WHERE n.user_id = $user DETACH DELETE n", user=user_id)
