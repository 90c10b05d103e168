"""Vector search of chunks and kgagent's hybrid search for the same questions."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from _foreign_graph import RawGraph

from kgagent import KnowledgeGraph, Ontology
from kgagent.embedding.base import Embedder
from kgagent.models.hybrid import HybridSearchRequest

MAX_ITEMS = 100
RAW_KEY = "raw_key"
LEVEL_FIELDS = {
    "attitude": ["1st", "2nd", "3rd", "4th", "5th"],
    "proximity": ["i", "ii", "iii", "iv", "v"],
}


@dataclass(frozen=True)
class Overlap:
    """Agreement of a result with the expected one."""

    precision: float
    recall: float

    @classmethod
    def of(cls, found: Sequence[str] | frozenset[str], right: frozenset[str]) -> "Overlap":
        """Compare; if nothing is expected and nothing was found, both are 1."""
        hits = len(right & set(found))
        if not right:
            return cls(float(not found), float(not found))
        return cls(hits / len(found) if found else 0.0, hits / len(right))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 where both are 0."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


class VectorAlone:
    """Exact vector search of chunks; returns the nodes of the nearest chunks."""

    def __init__(
        self, raw: RawGraph, embedder: Embedder, vectors: Sequence[Sequence[float]]
    ) -> None:
        self._raw = raw
        self._labels = raw.labels
        self._embedder = embedder
        self._vectors = np.array(vectors)

    @classmethod
    async def over(cls, raw: RawGraph, embedder: Embedder) -> Self:
        """Embed the chunks of a graph."""
        return cls(raw, embedder, await embedder.embed([chunk.content for chunk in raw.chunks]))

    async def find(self, question: str, labels: Sequence[str]) -> list[str]:
        """Keys of the nodes of some labels, nearest first."""
        [query] = await self._embedder.embed_queries([question])
        order = np.argsort(-(self._vectors @ np.array(query)))
        about = dict.fromkeys(self._raw.chunks[i].about for i in order)
        return [key for key in about if self._labels[key] in labels]


class HybridAlone:
    """kgagent's hybrid search in the same graph, loaded with a custom ontology.

    Nodes have the texts of their chunks and relationships have a sentence; both are embedded.
    """

    def __init__(self, graph: KnowledgeGraph, user_id: str) -> None:
        self._graph = graph
        self._user_id = user_id

    async def load(self, raw: RawGraph) -> None:
        """Load a graph."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graph.jsonl"
            file.write_text("".join(f"{json.dumps(line)}\n" for line in _lines(raw)), "utf-8")
            graph = self._graph
            report = await graph.load(
                file,
                user_id=self._user_id,
            )
        if report.problems:
            raise SystemExit(f"not loaded: {report.problems[0]}")

    async def find(self, question: str, labels: Sequence[str]) -> list[str]:
        """Keys of the nodes of some labels, best first, at most 100."""
        options = HybridSearchRequest(
            limit=MAX_ITEMS,
            object_limit=MAX_ITEMS,
            text_limit=MAX_ITEMS,
            relationship_limit=MAX_ITEMS,
            labels=tuple(labels),
        )
        result = await self._graph.retrieval.hybrid_search(
            options.model_copy(update={"query": question}), user_id=self._user_id
        )
        return [str(item.properties[RAW_KEY]) for item in result.objects if item.label in labels]


def ontology_of(graphs: Sequence[RawGraph]) -> Ontology:
    """An ontology with the labels and types of some graphs."""
    ends: dict[str, tuple[str, str]] = {}
    for raw in graphs:
        for one in raw.relationships:
            ends.setdefault(one.type, (raw.labels[one.start], raw.labels[one.end]))
    labels = dict.fromkeys(label for raw in graphs for label in raw.labels.values())
    return Ontology.model_validate(
        {
            "labels": {label: {"key": "uuid4"} for label in labels},
            "relationships": {
                kind: {"from": start, "to": end, **LEVEL_FIELDS}
                for kind, (start, end) in ends.items()
            },
            "note_lifetimes_in_days": {"forever": None},
            "default_note_lifetime": "forever",
        }
    )


def _lines(raw: RawGraph) -> Iterator[dict[str, object]]:
    texts: dict[str, str] = {}
    for chunk in raw.chunks:
        texts[chunk.about] = "\n".join(filter(None, (texts.get(chunk.about), chunk.content)))
    names = {node.key: node.name for node in raw.nodes}
    for node in raw.nodes:
        line = {"kind": "node", "label": node.label, "id": node.key, "name": node.name}
        yield {**line, "description": texts.get(node.key, ""), "properties": {RAW_KEY: node.key}}
    for one in raw.relationships:
        words = one.type.replace("_", " ").lower()
        yield {
            "kind": "relationship",
            "from": one.start,
            "to": one.end,
            "neo4j_type": one.type,
            "relationship_type": words,
            "description": f"{names[one.start]} {words} {names[one.end]}",
        }
