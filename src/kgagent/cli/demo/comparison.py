"""Loads the sample graph, and compares what node search and relationship search find for its
questions.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgagent.cli.demo.sample import Question, questions, sample_file
from kgagent.cli.progress import RichProgress
from kgagent.files import LoadReport
from kgagent.knowledge_graph import services_of
from kgagent.models import NodeSearchResult, RelationshipSearchResult
from kgagent.search import RetrievalService

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph

USER = "kgagent-demo"
"""The demo's own user, so that nobody's graph is changed."""

LIMIT = 5
"""Number of nodes, and of relationships, that are searched for a question."""

_NO_THRESHOLD = -1.0


@dataclass(frozen=True)
class Comparison:
    """The results of both searches for a question, best first."""

    question: Question
    nodes: tuple[NodeSearchResult, ...]
    relationships: tuple[RelationshipSearchResult, ...]

    @property
    def found_by_nodes(self) -> frozenset[str]:
        """Expected people among the nodes."""
        return self.question.expected & {result.node.name for result in self.nodes}

    @property
    def found_with_relationships(self) -> frozenset[str]:
        """Expected people among the nodes or the ends of the relationships."""
        ends = {
            name for result in self.relationships for name in (result.from_name, result.to_name)
        }
        return self.found_by_nodes | self.question.expected & ends


@dataclass(frozen=True)
class DemoResult:
    """The result of the demo.

    Attributes:
        version: version of the Neo4j.
        embedder: the embedder that was used.
        report: report of loading the sample graph.
        comparisons: results for the questions, in their order.
    """

    version: str
    embedder: str
    report: LoadReport
    comparisons: tuple[Comparison, ...]

    def counts(self) -> tuple[int, int, int]:
        """How many people of all questions are expected, found by node search, and found with
        relationship search.
        """
        return (
            sum(len(one.question.expected) for one in self.comparisons),
            sum(len(one.found_by_nodes) for one in self.comparisons),
            sum(len(one.found_with_relationships) for one in self.comparisons),
        )


async def run_demo(graph: "KnowledgeGraph") -> DemoResult:
    """Load the sample graph and ask its questions.

    Raises:
        KgAgentError: loading or searching failed.
    """
    progress = RichProgress()
    with sample_file() as file:
        report = await graph.load(file, user_id=USER, progress=progress)
    comparisons = []
    with progress.task("Asking five questions", 5) as advance:
        for question in questions():
            comparisons.append(await _compare(graph.retrieval, question))
            advance(1)
    version = services_of(graph).store.features.version
    return DemoResult(version, str(graph.embedder), report, tuple(comparisons))


async def _compare(retrieval: RetrievalService, question: Question) -> Comparison:
    """Embed a question once and run both searches."""
    [vector] = await retrieval.embed_queries([question.question])
    nodes = await retrieval.node_vector_search(
        vector=vector, threshold=_NO_THRESHOLD, user_id=USER, limit=LIMIT
    )
    relationships = await retrieval.relationship_vector_search(
        vector=vector, threshold=_NO_THRESHOLD, user_id=USER, limit=LIMIT
    )
    return Comparison(question, tuple(nodes[:LIMIT]), tuple(relationships))
