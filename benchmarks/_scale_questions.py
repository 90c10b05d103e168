"""Questions for the synthetic graph: some with a hand-written statement, and some over many
hops.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from _scale_graph import FEEDS, PART
from _scenario import holds, into, out, where

from kgagent.models.constraint import Constraint, ConstraintType
from kgagent.models.pattern import GraphPattern, StepDirection, TraversalStep
from kgagent.models.pattern_query import (
    CombinatorType,
    GraphQuery,
    QueryCombinator,
    RankingStrategy,
    ResolutionTarget,
)

HUB, KIND = 0, 8
TWO_STEPS = (out(FEEDS, PART), out(FEEDS, PART))
ROW = (
    "WITH [[n IN {nodes} | elementId(n)], [r IN {relationships} | elementId(r)]] AS path LIMIT "
    "$limit\n"
    "RETURN collect(path) AS paths"
)
OWN = "{0}.user_id = $user_id"


@dataclass(frozen=True)
class Beside:
    """A question as a query and as a hand-written statement.

    Attributes:
        name: name of the question.
        asked: the query.
        written: the hand-written statement, which returns the same paths.
        parameters: parameters of the statement, besides `user_id` and `limit`.
    """

    name: str
    asked: GraphQuery
    written: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Long:
    """A question over many hops."""

    name: str
    hops: int
    asked: GraphQuery


def ask(
    *steps: TraversalStep,
    constraints: tuple[Constraint, ...] = (),
    start: int | None = None,
    ranking: RankingStrategy = RankingStrategy.PATH_LENGTH,
    **more: Any,  # noqa: ANN401
) -> GraphQuery:
    """A query with one pattern between parts, optionally from one of them."""
    first, *others = steps
    return GraphQuery(
        targets=() if start is None else (ResolutionTarget(entity_key=str(start), label=PART),),
        patterns=(
            GraphPattern(
                steps=(first.model_copy(update={"source_label": PART}), *others),
                constraints=constraints,
                **more,
            ),
        ),
        ranking=ranking,
        top_k=0,
    )


def _written(match: str, holding: str, names: str, nodes: str, relationships: str) -> str:
    own = " AND ".join(OWN.format(name) for name in names)
    row = ROW.format(nodes=nodes, relationships=relationships)
    return f"MATCH {match}\nWHERE {holding} AND {own}\n{row}"


def beside_questions(start: int, end: int) -> tuple[Beside, ...]:
    """Questions with a hand-written statement.

    Args:
        start: number of the part where most of them start.
        end: number of the part where some of them end.
    """
    return (
        Beside(
            "2 hops, label and property at both ends",
            ask(
                *TWO_STEPS,
                constraints=(where("start", "number", start), where("end", "kind", KIND)),
            ),
            _written(
                "(a:Part {number: $start})-[r:FEEDS]->(b:Part)-[s:FEEDS]->(c:Part {kind: $kind})",
                "true",
                "abc",
                "[a, b, c]",
                "[r, s]",
            ),
            {"start": start, "kind": KIND},
        ),
        Beside(
            "3 hops, label and property at each node",
            ask(
                *TWO_STEPS,
                out(FEEDS, PART),
                constraints=(
                    where("start", "number", start),
                    where(1, "kind", KIND),
                    holds(ConstraintType.LESS_THAN, "end", "number", 500),
                ),
            ),
            _written(
                "(a:Part {number: $start})-[r:FEEDS]->(b:Part)-[s:FEEDS]->(c:Part {kind: "
                "$kind})-[t:FEEDS]->(d:Part)",
                "d.number < $below",
                "abcd",
                "[a, b, c, d]",
                "[r, s, t]",
            ),
            {"start": start, "kind": KIND, "below": 500},
        ),
        Beside(
            "2 hops from all of a label, one property",
            ask(*TWO_STEPS, constraints=(where(0, "kind", KIND), where("end", "number", end))),
            _written(
                "(a:Part)-[r:FEEDS]->(b:Part {kind: $kind})-[s:FEEDS]->(c:Part {number: $end})",
                "true",
                "abc",
                "[a, b, c]",
                "[r, s]",
            ),
            {"end": end, "kind": KIND},
        ),
        Beside(
            "1 to 3 hops between two nodes",
            ask(
                out(FEEDS, PART, min_hops=1, max_hops=3),
                constraints=(where("start", "number", start), where("end", "number", end)),
            ),
            "MATCH path = (a:Part {number: $start})-[:FEEDS*1..3]->(b:Part {number: $end})\n"
            "WHERE all(n IN nodes(path) WHERE n.user_id = $user_id)\n"
            + ROW.format(nodes="nodes(path)", relationships="relationships(path)"),
            {"start": start, "end": end},
        ),
        Beside(
            "1 to 2 hops from an entry point",
            ask(
                out(FEEDS, PART, max_hops=2), start=start, constraints=(where("end", "kind", KIND),)
            ),
            "MATCH path = (a:Part {entity_key: $key, user_id: $user_id})-[:FEEDS*1..2]->(b:Part "
            "{kind: $kind})\n"
            "WHERE all(n IN nodes(path) WHERE n.user_id = $user_id)\n"
            + ROW.format(nodes="nodes(path)", relationships="relationships(path)"),
            {"key": str(start), "kind": KIND},
        ),
        Beside(
            "2 hops from an entry point",
            ask(*TWO_STEPS, start=start, constraints=(where("end", "kind", KIND),)),
            _written(
                "(a:Part {entity_key: $key, user_id: "
                "$user_id})-[r:FEEDS]->(b:Part)-[s:FEEDS]->(c:Part {kind: $kind})",
                "true",
                "abc",
                "[a, b, c]",
                "[r, s]",
            ),
            {"key": str(start), "kind": KIND},
        ),
    )


def _long(hops: int, start: int, end: int) -> tuple[Long, ...]:
    one_each = [out(FEEDS, PART) for _ in range(hops)]
    last = (where("end", "kind", KIND),)
    meaning = RankingStrategy.HYBRID
    both = out(FEEDS, PART, direction=StepDirection.BOTH, min_hops=1, max_hops=hops)
    return (
        Long(
            "each step written out, from a node",
            hops,
            ask(*one_each, start=start, constraints=last),
        ),
        Long(
            "each step written out, from a hub", hops, ask(*one_each, start=HUB, constraints=last)
        ),
        Long("each step written out, from anywhere", hops, ask(*one_each, constraints=last)),
        Long(
            "up to, from a node",
            hops,
            ask(out(FEEDS, PART, max_hops=hops), start=start, constraints=last),
        ),
        Long("up to, either way, from a hub, HYBRID", hops, ask(both, start=HUB, ranking=meaning)),
        Long("up to, no node twice, from a hub", hops, ask(both, start=HUB, distinct_nodes=True)),
        Long(
            "just as many, between two nodes",
            hops,
            ask(
                out(FEEDS, PART, min_hops=hops, max_hops=hops),
                constraints=(where("start", "number", start), where("end", "number", end)),
            ),
        ),
        Long(
            "just as many, to a node that nothing reaches",
            hops,
            ask(
                out(FEEDS, PART, min_hops=hops, max_hops=hops),
                start=start,
                constraints=(where("end", "kind", -1),),
            ),
        ),
        Long(
            "against the relationships, from a node",
            hops,
            ask(*[into(FEEDS, PART)] * hops, start=start),
        ),
        Long("a cycle through a hub", hops, ask(*one_each, start=HUB, cycle=True)),
    )


def _intersection(parts: int) -> Long:
    """Parts that match several patterns of two hops."""
    patterns = tuple(
        GraphPattern(
            pattern_id=str(kind),
            steps=(out(FEEDS, PART).model_copy(update={"source_label": PART}), out(FEEDS, PART)),
            constraints=(where("end", "kind", kind), where("start", "kind", KIND)),
        )
        for kind in range(parts)
    )
    combinator = QueryCombinator(
        type=CombinatorType.INTERSECTION, patterns=patterns, join_on="start"
    )
    query = GraphQuery(combinator=combinator, ranking=RankingStrategy.PATH_LENGTH, top_k=0)
    return Long(f"an intersection of {parts} patterns", 2, query)


def long_questions(start: int, end: int) -> tuple[Long, ...]:
    """Questions over many hops, from and to these parts."""
    return (_intersection(2), _intersection(5), *_long(5, start, end), *_long(8, start, end))
