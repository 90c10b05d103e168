"""Hospital questions with known answers: cases with paths, start and end nodes, and sets of
patients.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _foreign_graph import RawGraph
from _scenario import MAX_PATHS
from _walks import Keys

from kgagent.models.constraint import Position
from kgagent.models.matched_path import MatchedPath, PatternResult
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import (
    CombinatorType,
    GraphQuery,
    QueryCombinator,
    RankingStrategy,
    ResolutionTarget,
)

GOLD = "medical_gold.json"
READINGS = {"walk": True, "cypherMatch": False}
"""How the file names the two readings of a pattern, and whether a path may follow a relationship
twice in them.
"""

SHORT_NAMES = {"RA": "Rheumatoid Arthritis"}


@dataclass(frozen=True)
class Case:
    """A question with its expected answer.

    Attributes:
        name: name in the file, and the reading.
        asked: the query.
        right: the expected keys of the nodes at each position.
        paths: the expected number of paths; None if unknown.
    """

    name: str
    asked: GraphQuery
    right: Mapping[Position, Keys]
    paths: int | None = None

    def is_met(self, result: PatternResult) -> bool:
        """Whether a result has exactly the expected paths and nodes."""
        counted = self.paths is None or len(result.paths) == self.paths
        return counted and all(
            found(result, [position]) == keys for position, keys in self.right.items()
        )


def found(result: PatternResult, positions: Sequence[Position]) -> Keys:
    """Keys of the nodes at some positions of all paths."""
    return frozenset(key_at(path, position) for path in result.paths for position in positions)


def key_at(path: MatchedPath, position: Position) -> str:
    """Key of the node of a path at a position."""
    if position == "start":
        return path.start.entity_key
    return (path.end if position == "end" else path.node_at_step(position)).entity_key


def cases(folder: Path, raw: RawGraph) -> list[Case]:
    """All hospital questions of the file, in each of their readings."""
    gold = json.loads((folder / GOLD).read_text("utf-8"))
    keys = {node.name: node.key for node in raw.nodes}
    by_id = {case["id"]: case for case in gold["cases"]}
    made: list[Case] = []
    for case in gold["cases"]:
        made += _combined(case, by_id, keys) if "combinator" in case else _single(case, keys, raw)
    return [*made, _both_to_patients(by_id, keys, raw)]


def _single(case: Mapping[str, Any], keys: Mapping[str, str], raw: RawGraph) -> Iterator[Case]:
    targets = _targets(case, raw)
    for reading, repeats in READINGS.items():
        if reading not in case:
            continue
        given = GraphPattern.model_validate(case["pattern"] | {"repeat_relationships": repeats})
        right: dict[Position, Keys] = {
            "start": _keys(case[reading]["starts"], keys),
            "end": _keys(case[reading]["ends"], keys),
        }
        yield Case(
            f"{case['id']}, {reading}",
            _asked(given, targets=targets),
            right,
            case[reading]["paths"],
        )
    if "answer_start_equals_end" in case:
        given = GraphPattern.model_validate(case["pattern"] | {"cycle": True})
        patients = _keys(case["answer_start_equals_end"], keys)
        yield Case(
            f"{case['id']}, cycle",
            _asked(given, targets=targets),
            {"start": patients, "end": patients},
        )


def _combined(
    case: Mapping[str, Any], by_id: Mapping[str, Any], keys: Mapping[str, str]
) -> Iterator[Case]:
    patterns = [
        GraphPattern.model_validate(by_id[name]["pattern"])
        for name in case["combinator"]["patterns"]
    ]
    answers: list[tuple[CombinatorType, Position, str]] = [
        (CombinatorType.INTERSECTION, "start", "answer_intersect_on_start_nodes"),
        (CombinatorType.INTERSECTION, "end", "answer_intersect_on_end_nodes_as_IDR003_code"),
        (CombinatorType.UNION, "start", "answer_union_on_start_nodes"),
    ]
    for kind, position, field in answers:
        asked = _asked(combinator=_joined(kind, patterns, position))
        yield Case(
            f"{case['id']}, {kind} on {position}", asked, {position: _keys(case[field], keys)}
        )


def _both_to_patients(by_id: Mapping[str, Any], keys: Mapping[str, str], raw: RawGraph) -> Case:
    """The intersection of patterns that end in patients, each with its own start node."""
    parts = [by_id["med_ra_to_patient"], by_id["med_albuterol_to_patient"]]
    patterns = [GraphPattern.model_validate(part["pattern"]) for part in parts]
    targets = [target for part in parts for target in _targets(part, raw)]
    asked = _asked(
        combinator=_joined(CombinatorType.INTERSECTION, patterns, "end"), targets=targets
    )
    answer = by_id["med_intersection_ra_albuterol"]["answer_intersect_on_start_nodes"]
    return Case(
        "med_ra_to_patient and med_albuterol_to_patient", asked, {"end": _keys(answer, keys)}
    )


def _targets(case: Mapping[str, Any], raw: RawGraph) -> tuple[ResolutionTarget, ...]:
    """The start node of a case, such as `Condition "Bronchial Asthma"`; none if it starts from all
    nodes.
    """
    label, _, name = str(case["entryPoints"]).partition(" ")
    if label == "all":
        return ()
    named = name.strip('"')
    return (
        ResolutionTarget(entity_key=raw.key_of(label, SHORT_NAMES.get(named, named)), label=label),
    )


def _asked(
    *patterns: GraphPattern,
    combinator: QueryCombinator | None = None,
    targets: Sequence[ResolutionTarget] = (),
) -> GraphQuery:
    return GraphQuery(
        targets=tuple(targets),
        patterns=patterns,
        combinator=combinator,
        ranking=RankingStrategy.PATH_LENGTH,
        max_paths=MAX_PATHS,
        top_k=0,
    )


def _joined(
    kind: CombinatorType, patterns: Sequence[GraphPattern], position: Position
) -> QueryCombinator:
    return QueryCombinator(type=kind, patterns=tuple(patterns), join_on=position)


def _keys(names: Sequence[str], keys: Mapping[str, str]) -> Keys:
    return frozenset(keys[name] for name in names)
