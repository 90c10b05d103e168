"""Runs the demo on an open graph."""

import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kgagent.cli.demo.comparison import LIMIT, Comparison, FoundTotals, compare_searches
from kgagent.cli.demo.sample import questions, sample_file
from kgagent.cli.progress import RichProgress
from kgagent.files import LoadReport

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph

USER = "kgagent-demo"
"""The demo's own user, so that nobody's graph is changed."""


@dataclass(frozen=True)
class DemoResult:
    """The result of the demo.

    Attributes:
        uri: address of the Neo4j.
        version: version of the Neo4j.
        embedder: the embedder that was used.
        report: report of loading the sample graph.
        comparisons: results for the questions, in their order.
    """

    uri: str
    version: str
    embedder: str
    report: LoadReport
    comparisons: tuple[Comparison, ...]

    @property
    def totals(self) -> FoundTotals:
        """Expected people of all questions, and how many of them were found."""
        return FoundTotals.of(self.comparisons)

    @property
    def median_search(self) -> float:
        """Median duration of both searches for a question, in milliseconds, without the embedding."""
        return statistics.median(comparison.timings.search for comparison in self.comparisons)

    @property
    def median_embedding(self) -> float:
        """Median duration of the embedding of a question, in milliseconds."""
        return statistics.median(comparison.timings.embedding for comparison in self.comparisons)

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON data."""
        return {
            "uri": self.uri,
            "version": self.version,
            "embedder": self.embedder,
            "user": USER,
            "limit": LIMIT,
            "load": self.report.model_dump(mode="json"),
            "questions": [comparison.to_dict() for comparison in self.comparisons],
            "totals": asdict(self.totals),
            "median_search_ms": round(self.median_search, 1),
            "median_embedding_ms": round(self.median_embedding, 1),
        }


async def run_demo(graph: "KnowledgeGraph") -> DemoResult:
    """Load the sample graph and ask its questions.

    Raises:
        KgAgentError: loading or searching failed.
    """
    from kgagent.knowledge_graph import services_of

    progress = RichProgress()
    with sample_file() as file:
        report = await graph.load(file, user_id=USER, progress=progress)
    asked = questions()
    with progress.task("Asking five questions", len(asked)) as advance:
        # The first search also plans its statements and loads the model, so it is not measured.
        warm_up = asked[0].model_copy(update={"question": "warm up"})
        await compare_searches(graph.retrieval, warm_up, user_id=USER)
        comparisons = []
        for question in asked:
            comparisons.append(await compare_searches(graph.retrieval, question, user_id=USER))
            advance(1)
    store = services_of(graph).store
    return DemoResult(
        uri=store.uri,
        version=store.features.version,
        embedder=str(graph.embedder),
        report=report,
        comparisons=tuple(comparisons),
    )
