"""The demo from an open graph to its outcome."""

import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kgagent.cli.demo.asking import HITS, Answer, Totals, ask
from kgagent.cli.demo.sample import questions, sample_file
from kgagent.cli.loading import load_into
from kgagent.cli.progress import RichProgress
from kgagent.loading import LoadReport

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph

USER = "kgagent-demo"
"""The demo's own user, so that a person's own graph is untouched."""


@dataclass(frozen=True)
class Outcome:
    """What the demo did and found.

    Attributes:
        uri: the Neo4j.
        version: its version.
        embedder: which embedder made the embeddings.
        report: what the load of the sample graph did.
        answers: to the questions, in their order.
    """

    uri: str
    version: str
    embedder: str
    report: LoadReport
    answers: tuple[Answer, ...]

    @property
    def totals(self) -> Totals:
        """Expected people of all questions, and how many of them were found."""
        return Totals.of(self.answers)

    @property
    def median_search(self) -> float:
        """Milliseconds that both searches of a question took, its embedding left out."""
        return statistics.median(answer.times.search for answer in self.answers)

    @property
    def median_embedding(self) -> float:
        """Milliseconds that the embedding of a question took."""
        return statistics.median(answer.times.embedding for answer in self.answers)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "uri": self.uri,
            "version": self.version,
            "embedder": self.embedder,
            "user": USER,
            "hits": HITS,
            "load": self.report.model_dump(mode="json"),
            "questions": [answer.to_dict() for answer in self.answers],
            "totals": asdict(self.totals),
            "median_search_ms": round(self.median_search, 1),
            "median_embedding_ms": round(self.median_embedding, 1),
        }


async def run_demo(graph: "KnowledgeGraph") -> Outcome:
    """Load the sample graph and ask its questions.

    Raises:
        KgAgentError: something failed.
    """
    from kgagent.knowledge_graph import services_of

    progress = RichProgress()
    with sample_file() as file:
        report = await load_into(graph, file, user_id=USER)
    asked = questions()
    with progress.task("Asking five questions", len(asked)) as advance:
        # The first search also plans its statements and loads the model, which is not what it takes afterwards.
        await ask(graph.retrieval, asked[0].model_copy(update={"question": "warm up"}), USER)
        answers = []
        for question in asked:
            answers.append(await ask(graph.retrieval, question, USER))
            advance(1)
    store = services_of(graph).store
    return Outcome(
        uri=store.uri,
        version=store.features.version,
        embedder=str(graph.embedder),
        report=report,
        answers=tuple(answers),
    )
