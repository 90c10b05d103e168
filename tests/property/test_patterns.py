"""Whatever graph and pattern are drawn, the compiled statement finds the paths that a plain walk
finds.
"""

from collections import Counter
from typing import Any
from uuid import uuid4

from hypothesis import event, given
from hypothesis import strategies as st
from pydantic import ValidationError

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from kgagent.knowledge_graph import services_of
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import GraphQuery, QueryCombinator, RankingStrategy
from kgagent.patterns.path_reader import PathReader
from kgagent.patterns.plans import query_plans
from kgagent.patterns.ranking import PathRanking
from kgagent.patterns.reads import UserReads
from kgagent.patterns.runner import PatternRunner, RunResult
from kgagent.search.scope import RelationshipFilter
from tests.support.examples import examples
from tests.support.plain_walk import PlainGraph, PlainNode, PlainRelationship
from tests.support.stored import cypher

MINE, THEIRS = "mine", "theirs"
LABELS = ["Red", "Blue"]
TYPES = ["KNOWS", "LIKES"]
EVERYTHING = 100_000

numbers = st.sampled_from([1, 2, 2.5])
texts = st.sampled_from(["1", "ab", "abc", "b`c"])
stored = numbers | texts | st.sampled_from([True, [1, 2], ["ab"]])
properties = st.fixed_dictionaries(
    {},
    optional={
        "age": stored,
        "name": texts,
        "details": st.sampled_from(['{"k": 1}', '{"k": "ab"}', "{", "[]"]),
    },
)
nodes = st.lists(
    st.tuples(
        st.sampled_from(
            [frozenset({"Red"}), frozenset({"Red", "Blue"}), frozenset({"Blue"}), frozenset()]
        ),
        properties,
        st.sampled_from([MINE] * 5 + [THEIRS]),
    ),
    min_size=3,
    max_size=5,
)
relationships = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 4),
        st.sampled_from(TYPES),
        properties,
        st.sampled_from([None, MINE, MINE, MINE, THEIRS]),
    ),
    min_size=4,
    max_size=10,
)
label = st.sampled_from([None, None, *LABELS])


def step(
    relation_type: str | tuple[str, ...] | None,
    target_label: str | None,
    direction: str,
    hops: tuple[int, int],
) -> dict[str, Any]:
    return {
        "source_label": None,
        "relation_type": relation_type,
        "target_label": target_label,
        "direction": direction,
        "min_hops": hops[0],
        "max_hops": hops[1],
    }


steps = st.builds(
    step,
    st.sampled_from([None, None, *TYPES, tuple(TYPES)]),
    label,
    st.sampled_from(["OUTGOING", "INCOMING", "BOTH"]),
    st.sampled_from([(1, 1), (1, 1), (1, 1), (1, 2), (2, 2), (1, 3)]),
)
one_value = st.one_of(
    st.tuples(st.sampled_from(["PROPERTY_EQUALS"]), numbers | texts | st.just(True)),
    st.tuples(st.sampled_from(["PROPERTY_IN", "NOT_IN"]), st.lists(numbers | texts, max_size=3)),
    st.tuples(
        st.sampled_from(["GREATER_THAN", "LESS_THAN", "GREATER_THAN_EQUALS", "LESS_THAN_EQUALS"]),
        numbers | texts,
    ),
    st.tuples(
        st.sampled_from(["CONTAINS", "STARTS_WITH", "ENDS_WITH"]), st.sampled_from(["b", "ab", "`"])
    ),
    st.tuples(st.just("REGEX_MATCH"), st.sampled_from(["a.*", "(a|b)+", "[0-9]"])),
)


@st.composite
def constraints(draw: st.DrawFn, places: int, *, start: bool = True) -> dict[str, Any]:
    kind, value = draw(one_value)
    on = draw(st.sampled_from(["node", "node", "relationship"]))
    ends = ["end", "start"] if start and on == "node" else ["end"]
    drawn: dict[str, Any] = {
        "type": kind,
        "property_path": draw(st.sampled_from(["age", "name", "details.k", "properties.age"])),
        "value": value,
        "on": on,
        "at_step": draw(st.integers(-1, places - 1) | st.sampled_from(ends)),
        "node_label": draw(label) if on == "node" else None,
    }
    if drawn["property_path"] == "properties.age":
        drawn["property_path"] = "age"
    if (
        on == "node"
        and kind != "REGEX_MATCH"
        and "." not in drawn["property_path"]
        and draw(st.booleans())
    ):
        drawn["value"] = None
        drawn["value_from"] = {
            "at_step": draw(st.sampled_from(["start", "end"])),
            "property_path": "age",
        }
    return drawn


@st.composite
def branches(draw: st.DrawFn, places: int) -> dict[str, Any]:
    inner = draw(st.lists(steps, min_size=1, max_size=2))
    least = draw(st.none() | st.integers(0, 2))
    return {
        "at_step": draw(st.integers(0, places - 1) | st.sampled_from(["start", "end"])),
        "steps": inner,
        "constraints": draw(st.lists(constraints(len(inner), start=False), max_size=1)),
        "ends_at": draw(st.none() | st.sampled_from(["start", "end"])),
        "at_least": least,
        "at_most": draw(st.none() | st.integers(least or 0, 3)),
    }


@st.composite
def patterns(draw: st.DrawFn) -> GraphPattern:
    way = draw(st.lists(steps, min_size=1, max_size=2))
    way[0] = {**way[0], "source_label": draw(label)}
    shape = draw(
        st.sampled_from(
            [{}, {}, {"cycle": True}, {"distinct_nodes": True}, {"repeat_relationships": True}]
        )
    )
    drawn = {
        "pattern_id": f"pattern {draw(st.integers(0, 10**9))}",
        "steps": way,
        "constraints": draw(st.lists(constraints(len(way)), max_size=1)),
        "branches": draw(st.just([]) | st.lists(branches(len(way)), max_size=1)),
        **shape,
    }
    try:
        return GraphPattern.model_validate(drawn)
    except ValidationError:
        # A cycle between two labels, or a step that repeats while relationships may be repeated.
        drawn["cycle"] = False
        return GraphPattern.model_validate(
            {**drawn, "steps": [{**one, "max_hops": 1, "min_hops": 1} for one in way]}
        )


@st.composite
def combinators(draw: st.DrawFn) -> QueryCombinator:
    kind = draw(st.sampled_from(["INTERSECTION", "SEQUENTIAL", "UNION"]))
    parts = draw(st.lists(patterns(), min_size=2, max_size=3))
    join = None if kind == "SEQUENTIAL" else draw(st.sampled_from(["start", "end"]))
    return QueryCombinator(type=kind, patterns=tuple(parts), join_on=join)


async def plant(
    graph: KnowledgeGraph, drawn_nodes: list[Any], drawn_relationships: list[Any]
) -> tuple[PlainGraph, str]:
    """Store a drawn graph, and give it as lists too."""
    users = {MINE: f"user-{uuid4()}", THEIRS: f"user-{uuid4()}", None: None}
    plain_nodes = [
        PlainNode(number, labels, values, users[whose] or "")
        for number, (labels, values, whose) in enumerate(drawn_nodes)
    ]
    plain = [
        PlainRelationship(
            number, start % len(drawn_nodes), end % len(drawn_nodes), kind, values, users[whose]
        )
        for number, (start, end, kind, values, whose) in enumerate(drawn_relationships)
    ]
    prefix = users[MINE]
    await cypher(
        graph,
        "UNWIND $rows AS row CREATE (n:PatternTest) SET n = row.own, n:$(row.labels)",
        rows=[
            {
                "own": {
                    **node.properties,
                    "entity_key": f"{prefix}:{node.number}",
                    "user_id": node.user,
                },
                "labels": sorted(node.labels),
            }
            for node in plain_nodes
        ],
    )
    await cypher(
        graph,
        "UNWIND $rows AS row MATCH (a:PatternTest {entity_key: row.a}), (b:PatternTest "
        "{entity_key: row.b}) "
        "CREATE (a)-[r:$(row.type)]->(b) SET r = row.own",
        rows=[
            {
                "own": {**one.properties, "number": one.number}
                | ({"user_id": one.user} if one.user else {}),
                "a": f"{prefix}:{one.start}",
                "b": f"{prefix}:{one.end}",
                "type": one.type,
            }
            for one in plain
        ],
    )
    return PlainGraph(plain_nodes, plain, str(users[MINE])), str(prefix)


async def remove(graph: KnowledgeGraph, prefix: str) -> None:
    """Delete the nodes that `plant` stored under a prefix, with their relationships."""
    text = "MATCH (n:PatternTest) WHERE n.entity_key STARTS WITH $prefix DETACH DELETE n"
    await cypher(graph, text, prefix=f"{prefix}:")


async def compiled(
    graph: KnowledgeGraph,
    part: GraphPattern | QueryCombinator,
    user_id: str,
    *,
    is_narrowed: bool = False,
) -> RunResult:
    """Run a pattern or a combinator as kgagent does, or as it does if that takes long."""
    reader, kept = PathReader(graph.ontology), RelationshipFilter()
    reads = UserReads.within(60.0, services_of(graph).store, user_id)
    quick_seconds = 0.0 if is_narrowed else EVERYTHING
    runner = PatternRunner(
        reads,
        graph.embedder,
        reader,
        kept=kept,
        paths=EVERYTHING,
        explored=EVERYTHING,
        quick_seconds=quick_seconds,
    )
    is_pattern = isinstance(part, GraphPattern)
    query = GraphQuery(patterns=(part,)) if is_pattern else GraphQuery(combinator=part)
    plans = query_plans(query, all_types=True)
    return await runner.run(
        plans, await runner.compiler(plans, ()), PathRanking(RankingStrategy.PATH_LENGTH), None
    )


def as_numbers(ran: RunResult) -> Counter[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    return Counter(
        (
            tuple(int(node.entity_key.rpartition(":")[2]) for node in path.nodes),
            tuple(
                int(str(relationship.properties["number"])) for relationship in path.relationships
            ),
            path.steps,
        )
        for path in ran.read.paths
    )


def check_refusal(error: InputError) -> None:
    """Only a comparison that makes no sense is refused."""
    event("refused")
    assert "cannot compare" in str(error) or "one is text and the other is not" in str(error)


@examples(12)
@given(
    drawn_nodes=nodes,
    drawn_relationships=relationships,
    pattern=patterns(),
    is_narrowed=st.booleans(),
)
async def test_a_pattern_finds_the_paths_that_a_walk_in_python_finds(
    graph: KnowledgeGraph,
    drawn_nodes: list[Any],
    drawn_relationships: list[Any],
    pattern: GraphPattern,
    is_narrowed: bool,  # drawn
) -> None:
    plain, prefix = await plant(graph, drawn_nodes, drawn_relationships)
    expected = Counter(plain.paths(pattern))
    try:
        found = as_numbers(await compiled(graph, pattern, plain.user, is_narrowed=is_narrowed))
    except InputError as error:
        check_refusal(error)
        return
    finally:
        await remove(graph, prefix)
    assert not plain.must_fail
    event(f"{min(len(expected), 3)} paths")
    assert found == expected


@examples(8)
@given(
    drawn_nodes=nodes,
    drawn_relationships=relationships,
    combinator=combinators(),
    is_narrowed=st.booleans(),
)
async def test_a_combinator_finds_what_a_walk_in_python_finds(
    graph: KnowledgeGraph,
    drawn_nodes: list[Any],
    drawn_relationships: list[Any],
    combinator: QueryCombinator,
    is_narrowed: bool,  # drawn
) -> None:
    plain, prefix = await plant(graph, drawn_nodes, drawn_relationships)
    expected = plain.paths(combinator)
    try:
        ran = await compiled(graph, combinator, plain.user, is_narrowed=is_narrowed)
    except InputError as error:
        check_refusal(error)
        return
    finally:
        await remove(graph, prefix)
    found = as_numbers(ran)
    event(f"{combinator.type} {min(len(expected), 2)} paths")
    if combinator.type != "UNION":
        assert set(found) == set(expected)
        return
    end = 0 if combinator.join_on == "start" else -1
    assert set(found) <= set(expected)
    assert Counter(path[0][end] for path in found) == Counter({path[0][end] for path in expected})
