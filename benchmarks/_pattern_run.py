"""Runs patterns: correctness, time, and whether nodes of another user appear."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from _common import p50, timed
from _foreign_graph import OTHER, RawGraph
from _pattern_cases import Case, cases, found
from _pattern_sets import sets
from _scenario import Scenario
from _walks import Facts, Keys

from kgagent import KnowledgeGraph
from kgagent.models.constraint import Position
from kgagent.models.matched_path import PatternResult
from kgagent.models.pattern_query import GraphQuery, RankingStrategy

RUNS = 9
FEW = 10


@dataclass(frozen=True)
class Data:
    """One of the graphs, its users and its scenarios.

    Attributes:
        name: "medical" or "sap".
        raw: contents of the file.
        scenarios: its scenarios.
        questions: the text of each scenario, by release and name.
    """

    name: str
    raw: RawGraph
    scenarios: tuple[Scenario, ...]
    questions: Mapping[tuple[str, str], str]

    @property
    def user_id(self) -> str:
        """The user of the queries."""
        return f"patterns-{self.name}"

    @property
    def other_id(self) -> str:
        """The user who must not appear in results."""
        return f"{self.user_id}-other"

    @property
    def search_id(self) -> str:
        """The user with the graph for search alone."""
        return f"{self.user_id}-search"


@dataclass(frozen=True)
class Asked:
    """The result of a question.

    Attributes:
        name: name of the case.
        exact: whether the result is exactly as expected.
        answer: names of the nodes.
        seconds: median, for all paths.
        ranked_seconds: median for the ten best by hybrid ranking with chunks, including embedding
            the question; None if there is no question text.
        foreign: number of nodes of another user in the result.
        truncated: whether a limit cut off paths.
    """

    name: str
    exact: bool
    answer: list[str]
    seconds: float
    ranked_seconds: float | None
    foreign: int
    truncated: bool

    def to_dict(self) -> dict[str, object]:
        """The entry in the JSON output."""
        figures = {
            "case": self.name,
            "exact": self.exact,
            "answer": self.answer,
            "p50_ms": round(1e3 * self.seconds, 2),
        }
        if self.ranked_seconds is not None:
            figures["ranked_p50_ms"] = round(1e3 * self.ranked_seconds, 2)
        return figures


@dataclass(frozen=True)
class ScenarioAsked:
    """A scenario with its result and the expected nodes."""

    scenario: Scenario
    asked: Asked
    keys: Keys
    right: Keys


async def given_cases(graph: KnowledgeGraph, data: Data, folder: Path) -> list[Asked]:
    """Run the questions with known answers."""
    done = []
    for case in [*cases(folder, data.raw), *sets(folder, data.raw)]:
        result, seconds = await _answer(graph, case.asked, data.user_id)
        keys = found(result, [_answer_position(case)])
        done.append(_asked(case.name, data.raw, (keys, case.is_met(result)), result, seconds))
    return done


async def scenario_cases(graph: KnowledgeGraph, data: Data) -> list[ScenarioAsked]:
    """Run the scenarios that the data can answer."""
    facts = Facts(data.raw)
    done = []
    for scenario in data.scenarios:
        if scenario.asked is None or scenario.right is None:
            continue
        right = scenario.right(facts)
        result, seconds = await _answer(graph, scenario.asked, data.user_id)
        text = data.questions[scenario.release, scenario.name]
        ranked = await _ranked_seconds(graph, scenario.asked, data.user_id, text)
        keys = found(result, scenario.answer_at)
        asked = _asked(scenario.title, data.raw, (keys, keys == right), result, seconds)
        asked = replace(asked, ranked_seconds=ranked)
        done.append(ScenarioAsked(scenario, asked, keys, right))
    return done


async def _answer(
    graph: KnowledgeGraph, query: GraphQuery, user_id: str
) -> tuple[PatternResult, float]:
    result = await graph.query_patterns(query, user_id=user_id)
    seconds = [(await timed(graph.query_patterns(query, user_id=user_id)))[1] for _ in range(RUNS)]
    return result, p50(seconds)


async def _ranked_seconds(
    graph: KnowledgeGraph, query: GraphQuery, user_id: str, text: str
) -> float:
    more = {"query": text, "ranking": RankingStrategy.HYBRID, "max_paths": FEW, "top_k": FEW}
    asked = query.model_copy(update=more)
    [vector] = await graph.retrieval.embed_queries([text])
    times = [
        (await timed(graph.query_patterns(asked, user_id=user_id, vector=vector)))[1]
        for _ in range(RUNS + 1)
    ]
    return p50(times[1:])


def _asked(
    name: str, raw: RawGraph, answer: tuple[Keys, bool], result: PatternResult, seconds: float
) -> Asked:
    keys, exact = answer
    names = sorted(node.name for node in raw.nodes if node.key in keys)
    nodes = [*result.context.nodes, *(node for path in result.paths for node in path.nodes)]
    foreign = sum(OTHER in node.properties for node in nodes)
    return Asked(name, exact, names, seconds, None, foreign, result.context.truncated)


def _answer_position(case: Case) -> Position:
    """The position with the most expected nodes."""
    return max(case.right, key=lambda position: len(case.right[position]))
