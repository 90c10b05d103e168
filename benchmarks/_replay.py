"""A graph in memory that answers the statements of searches, so that quality is measured without a
server.

Vectors are compared exactly, and full-text search is BM25 over the same fields; the statements are
told apart by the names of their files. Everything else is the product's own code.
"""

import asyncio
import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kgagent import Ontology
from kgagent.embedding.base import Embedder
from kgagent.graph.embedded_text import embedding_text
from kgagent.graph.features import ServerFeatures
from kgagent.graph.schema_parts import STATEMENT, STATEMENT_TEXTS
from kgagent.graph.statements import Statement
from kgagent.models.note import Note, dump_notes, utc_now
from kgagent.names import plain_text, plain_words
from kgagent.origin import Origin
from kgagent.search import RetrievalService

Vectors = npt.NDArray[np.float32]

K1, B = 1.2, 0.75
"""Constants of BM25 in Lucene."""

EMBEDDED_AT_ONCE = 2_000

TURN = re.compile(r"D\d+:\d+")
MARK = re.compile(r"\s*\[(?:D\d+:\d+[^\]]*)\]")
"""The id of a turn, and the ids at the end of a statement that rests on turns."""

_CLAUSE = re.compile(r'(\+?)(\w+):\(((?:"(?:[^"\\]|\\.)*"\s*)*)\)\^([\d.]+)')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class MadeNode:
    """A node of a data set."""

    key: str
    label: str
    name: str
    description: str = ""
    notes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    is_owner: bool = False


@dataclass(frozen=True)
class MadeRelationship:
    """A relationship of a data set; `start` and `end` are keys of nodes."""

    start: str
    end: str
    neo4j_type: str
    relationship_type: str
    description: str = ""
    notes: tuple[str, ...] = ()
    attitude: int | None = None
    proximity: int | None = None


@dataclass(frozen=True)
class Entry:
    """A statement in the index: of which record, its text, the text that is embedded, and what full
    text has beside.
    """

    kind: str
    position: int
    text: str
    embedded: str
    names: str
    relationship_type: str


@dataclass(frozen=True)
class MadeGraph:
    """The graph of one user."""

    nodes: Sequence[MadeNode]
    relationships: Sequence[MadeRelationship]
    ontology: Ontology

    def entries(self) -> list["Entry"]:
        """What the index of statements has: of each record its text without notes, and each
        note.
        """
        now = utc_now()
        entries: list[Entry] = []
        names = {node.key: node.name for node in self.nodes}
        for position, node in enumerate(self.nodes):
            text = embedding_text(node.name, node.description, notes=(), now=now)
            entries.append(Entry("node", position, node.description, text, node.name, ""))
            entries += [Entry("node", position, note, note, node.name, "") for note in node.notes]
        for position, one in enumerate(self.relationships):
            levels = (
                self.ontology.word(one.neo4j_type, name, level)
                for name, level in (("attitude", one.attitude), ("proximity", one.proximity))
            )
            text = embedding_text(
                one.description, one.relationship_type, *levels, notes=(), now=now
            )
            about = f"{names[one.start]} {names[one.end]}", one.relationship_type
            entries.append(Entry("relationship", position, one.description, text, *about))
            entries += [Entry("relationship", position, note, note, *about) for note in one.notes]
        return entries

    def statements(self) -> list[str]:
        """Each description and note by itself, with the names of its nodes."""
        names = {node.key: node.name for node in self.nodes}
        texts = [(node.name, (node.description, *node.notes)) for node in self.nodes]
        texts += [
            (
                f"{names[one.start]} -[{one.relationship_type}]-> {names[one.end]}",
                (one.description, *one.notes),
            )
            for one in self.relationships
        ]
        return [f"{head}: {text}" for head, of_one in texts for text in of_one if text.strip()]

    def texts(self) -> tuple[list[str], list[str]]:
        """The embedding texts of the nodes and of the relationships, as the tools compute them."""
        now = utc_now()

        def notes(contents: Sequence[str]) -> list[Note]:
            return [Note(content=content) for content in contents]

        of_nodes = [
            embedding_text(node.name, node.description, notes=notes(node.notes), now=now)
            for node in self.nodes
        ]
        of_relationships = [
            embedding_text(
                one.description,
                one.relationship_type,
                self.ontology.word(one.neo4j_type, "attitude", one.attitude),
                self.ontology.word(one.neo4j_type, "proximity", one.proximity),
                notes=notes(one.notes),
                now=now,
            )
            for one in self.relationships
        ]
        return of_nodes, of_relationships


class EmbeddingCache:
    """Vectors by text, in a file that the next run reads."""

    def __init__(self, embedder: Embedder, file: Path | None) -> None:
        self._embedder, self._file = embedder, file
        self._known: dict[str, Vectors] = {}
        if file is not None and file.exists():
            kept = np.load(file)
            self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    async def embed(self, texts: Sequence[str], *, are_queries: bool = False) -> Vectors:
        """Vectors of texts, each of length 1."""
        keys = [hashlib.sha256(f"{are_queries}{text}".encode()).hexdigest()[:24] for text in texts]
        missing = list(
            {
                key: text for key, text in zip(keys, texts, strict=True) if key not in self._known
            }.items()
        )
        run = self._embedder.embed_queries if are_queries else self._embedder.embed
        for first in range(0, len(missing), EMBEDDED_AT_ONCE):
            part = missing[first : first + EMBEDDED_AT_ONCE]
            vectors = np.array(await run([text for _, text in part]), np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            self._known |= {key: vector for (key, _), vector in zip(part, vectors, strict=True)}
        if missing and self._file is not None:
            np.savez(
                self._file,
                keys=np.array(list(self._known)),
                vectors=np.array(list(self._known.values())),
            )
        return np.array([self._known[key] for key in keys])


class FullText:
    """BM25 over some fields, as a full-text index of Neo4j scores."""

    def __init__(self, documents: Sequence[Mapping[str, str]], fields: Sequence[str]) -> None:
        self._fields = {
            name: _Field([document.get(name, "") for document in documents]) for name in fields
        }

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Positions and scores of the documents that match a Lucene query, best first."""
        scores: dict[int, float] = defaultdict(float)
        for _, name, phrases, weight in _CLAUSE.findall(query):
            if name in self._fields and float(weight) > 0.0:
                for phrase in _QUOTED.findall(phrases):
                    for position, score in self._fields[name].score(phrase):
                        scores[position] += float(weight) * score
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]


class _Field:
    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(plain_words(text)) for text in texts]
        lengths = [sum(count.values()) for count in counts]
        present = sum(length > 0 for length in lengths)
        mean = sum(lengths) / max(present, 1)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for position, count in enumerate(counts):
            norm = K1 * (1.0 - B + B * lengths[position] / max(mean, 1.0))
            for word, frequency in count.items():
                self._postings[word].append((position, frequency / (frequency + norm)))
        self._total = max(present, 1)

    def score(self, phrase: str) -> list[tuple[int, float]]:
        words = plain_words(phrase)
        if not words:
            return []
        # A phrase of several words is approximated by its rarest word.
        postings = min((self._postings.get(word, []) for word in words), key=len)
        idf = math.log(1.0 + (self._total - len(postings) + 0.5) / (len(postings) + 0.5))
        return [(position, idf * weight) for position, weight in postings]


@dataclass
class ReplayStore:
    """Answers the statements of searches over one graph."""

    graph: MadeGraph
    node_vectors: Vectors
    vectors: Vectors
    entry_vectors: Vectors
    features: ServerFeatures = field(
        default_factory=lambda: ServerFeatures("2026.08.1", False, False)
    )
    origin: Origin = field(default_factory=Origin)
    statements: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        graph = self.graph
        self._keys = [node.key for node in graph.nodes]
        self._at = {key: position for position, key in enumerate(self._keys)}
        self._touching: dict[str, list[int]] = defaultdict(list)
        for position, one in enumerate(graph.relationships):
            for key in dict.fromkeys((one.start, one.end)):
                self._touching[key].append(position)
        self._node_text = FullText(
            [
                {
                    "name": node.name,
                    "description": node.description,
                    "notes_text": " ".join((*node.aliases, *node.notes)),
                }
                for node in graph.nodes
            ],
            ("name", "description", "notes_text"),
        )
        self._relationship_text = FullText(
            [
                {
                    "relationship_type": one.relationship_type,
                    "description": one.description,
                    "notes_text": " ".join(one.notes),
                }
                for one in graph.relationships
            ],
            ("relationship_type", "description", "notes_text"),
        )
        self.entries = graph.entries()
        self._of_record: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._at_node: dict[str, list[int]] = defaultdict(list)
        for i, entry in enumerate(self.entries):
            self._of_record[entry.kind, entry.position].append(i)
            for key in self._ends(entry):
                self._at_node[key].append(i)
        self._entry_text = FullText(
            [
                {
                    "text": without_marks(one.text),
                    "names": one.names,
                    "relationship_type": one.relationship_type,
                }
                for one in self.entries
            ],
            STATEMENT_TEXTS,
        )
        self._names = [
            [plain_text(name) for name in (node.name, *node.aliases)] for node in graph.nodes
        ]
        self._owners = [position for position, node in enumerate(graph.nodes) if node.is_owner]

    def vector(self, vector: Sequence[float]) -> Vectors:
        """A query vector of length 1."""
        array = np.asarray(vector, np.float32)
        return array / np.linalg.norm(array)

    def _ends(self, entry: Entry) -> tuple[str, ...]:
        if entry.kind == "node":
            return (self._keys[entry.position],)
        one = self.graph.relationships[entry.position]
        return one.start, one.end

    def _matches(
        self,
        entries: Iterable[int],
        similarities: Vectors | Mapping[int, float],
        parameters: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """What `_statement_match.cypher` returns of entries, the best first."""
        of_records: dict[tuple[str, int], list[int]] = {}
        for i in entries:
            record = self.entries[i].kind, self.entries[i].position
            if record not in of_records and len(of_records) == parameters["limit"]:
                continue
            of_records.setdefault(record, []).append(i)
        return [
            {
                kind: self._node(position) if kind == "node" else self._relationship(position),
                "statements": [
                    [self.entries[i].text, float(similarities[i]), None]
                    for i in own[: parameters["of_record"]]
                ],
            }
            for (kind, position), own in of_records.items()
        ]

    def owners(self, user_id: str) -> Sequence[str]:
        """The user alone, as a store that no owners share."""
        return (user_id,)

    async def read(
        self,
        text: Statement,
        parameters: Mapping[str, Any],
        *,
        timeout: float | None = None,  # noqa: ARG002
    ) -> list[dict[str, Any]]:
        """Answer a statement by the name of its file."""
        await asyncio.sleep(0)
        self.statements.append(text.name)
        answer = getattr(self, f"_{text.name}", None)
        if answer is None:
            raise NotImplementedError(f"The replay does not know the statement {text.name}")
        rows: list[dict[str, Any]] = answer(parameters)
        return rows

    def _count_relationships(self, _: Mapping[str, Any]) -> list[dict[str, Any]]:
        labels = {"": len(self.graph.relationships), STATEMENT: len(self.entries)}
        for label in self.graph.ontology.labels:
            labels[label] = sum(node.label == label for node in self.graph.nodes)
        return [{"label": label, "found": count, "unindexed": 0} for label, count in labels.items()]

    _count_nodes = _count_relationships

    def _search_relationships_exact(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = []
        for query in parameters["queries"]:
            similarities = self.vectors @ query["vector"]
            best = _best(similarities, parameters["limit"])
            rows.append(
                {
                    "query": query["position"],
                    "label": "",
                    "matches": [
                        {
                            "similarity": float(similarities[i]),
                            "relationship": self._relationship(i),
                        }
                        for i in best
                        if similarities[i] >= query["threshold"]
                    ],
                }
            )
        return rows

    def _search_nodes_exact(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = []
        for query in parameters["queries"]:
            similarities = self.node_vectors @ query["vector"]
            of_label: dict[str, list[int]] = {label: [] for label in self.graph.ontology.labels}
            for i in np.argsort(-similarities, kind="stable").tolist():
                matches = of_label[self.graph.nodes[i].label]
                if len(matches) < parameters["limit"] and similarities[i] >= query["threshold"]:
                    matches.append(i)
            rows += [
                {
                    "query": query["position"],
                    "label": label,
                    "matches": [
                        {"similarity": float(similarities[i]), "node": self._node(i)}
                        for i in matches
                    ],
                }
                for label, matches in of_label.items()
            ]
        return rows

    def _search_statements_exact(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = []
        for query in parameters["queries"]:
            similarities = self.entry_vectors @ query["vector"]
            best = _best(similarities, 4 * parameters["limit"])
            near = [i for i in best if similarities[i] >= query["threshold"]]
            rows.append(
                {
                    "query": query["position"],
                    "label": STATEMENT,
                    "matches": self._matches(near, similarities, parameters),
                }
            )
        return rows

    def _search_statements_text(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = []
        for query in parameters["queries"]:
            similarities = self.entry_vectors @ query["vector"]
            hits = self._entry_text.search(query["text"], parameters["fetch"])
            best = [
                (word["word"], self._entry_text.search(word["text"], 1)) for word in query["words"]
            ]
            rows.append(
                {
                    "query": query["position"],
                    "hits": len(hits),
                    "kept": len(hits),
                    "matches": self._matches([i for i, _ in hits], similarities, parameters),
                    "weights": [[word, own[0][1]] for word, own in best if own],
                }
            )
        return rows

    def _search_relationships_text(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        return self._text_rows(parameters, self._relationship_text, self.vectors, "relationship")

    def _search_nodes_text(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        return self._text_rows(parameters, self._node_text, self.node_vectors, "node")

    def _text_rows(
        self, parameters: Mapping[str, Any], index: FullText, vectors: Vectors, kind: str
    ) -> list[dict[str, Any]]:
        read = self._node if kind == "node" else self._relationship
        rows = []
        for query in parameters["queries"]:
            hits = index.search(query["text"], parameters["limit"])
            least = parameters["least_share"] * hits[0][1] if hits else 0.0
            rows.append(
                {
                    "query": query["position"],
                    "hits": len(hits),
                    "found": len(hits),
                    "matches": [
                        {
                            "score": score,
                            kind: read(i),
                            "similarity": float(vectors[i] @ query["vector"]),
                        }
                        for i, score in hits
                        if score >= least
                    ],
                }
            )
        return rows

    def _find_named_nodes(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = []
        for query in parameters["queries"]:
            hits = self._node_text.search(query["names"], parameters["fetch"])
            named = [
                (i, score, False)
                for i, score in hits
                if any(name and name in query["plain"] for name in self._names[i])
                or (query["has_parts"] and self._has_part(i, query["plain"]))
            ][: parameters["node_limit"]]
            owners = [(i, 0.0, True) for i in self._owners if query["speaks_of_owner"]]
            for i, _, is_owner in (*owners, *named):
                at_node = np.array(self._at_node[self._keys[i]][: parameters["hub_limit"]], int)
                similarities = self.entry_vectors[at_node] @ query["vector"]
                order = np.argsort(-similarities, kind="stable")
                every = dict(zip(at_node.tolist(), similarities.tolist(), strict=True))
                rows.append(
                    {
                        "query": query["position"],
                        "entity_key": self._keys[i],
                        "names": []
                        if is_owner
                        else [self.graph.nodes[i].name, *self.graph.nodes[i].aliases],
                        "is_owner": is_owner,
                        "parts": [] if is_owner or not query["has_parts"] else self._parts(i),
                        "degree": len(self._touching[self._keys[i]]),
                        "matches": self._matches(at_node[order].tolist(), every, parameters),
                    }
                )
        return rows

    def _parts(self, node: int) -> list[str]:
        """The words of a person's name."""
        one = self.graph.nodes[node]
        return one.name.split() if one.label == self.graph.ontology.owner_label else []

    def _has_part(self, node: int, plain: str) -> bool:
        return any(plain_text(part) in plain for part in self._parts(node))

    def _expand_hop(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        temperature, hub_limit = parameters["temperature"], parameters["hub_limit"]
        choices: dict[int, list[tuple[float, int, int, float, float]]] = defaultdict(list)
        similarities = [self.vectors @ vector for vector in parameters["vectors"]]
        for step in parameters["frontier"]:
            lead = int(step["element_id"])
            visited = {int(one) for one in step["path"]} | {lead}
            for key in step["through"]:
                siblings = np.array(
                    [i for i in self._touching[key][:hub_limit] if i not in visited], int
                )
                if not len(siblings):
                    continue
                own = similarities[step["query"]][siblings]
                overlap = self.vectors[siblings] @ self.vectors[lead]
                adapted = own + parameters["overlap_weight"] * (overlap.mean() - overlap)
                total = np.exp(adapted / temperature).sum() * max(
                    1.0, len(self._touching[key]) / hub_limit
                )
                doubts = temperature * math.log(total) - adapted
                for i, similarity, doubt in zip(
                    siblings.tolist(), own.tolist(), doubts.tolist(), strict=True
                ):
                    score = step["score"] - parameters["doubt_weight"] * doubt
                    choices[step["query"]].append((-score, i, step["position"], doubt, similarity))
        return [
            {
                "query": query,
                "reached": [
                    {"lead": lead, "doubt": doubt, "relationship": self._relationship(i)}
                    for _, i, lead, doubt, similarity in sorted(found)[: parameters["limit"]]
                ],
            }
            for query, found in choices.items()
        ]

    def _read_found(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        vectors = parameters["vectors"]

        def read(kind: str, position: int, record: list[Any], vector: Vectors) -> list[Any]:
            own = [
                (
                    self.entries[i].text,
                    [float(self.entry_vectors[i] @ one) for one in vectors],
                    None,
                )
                for i in self._of_record[kind, position]
            ]
            own.sort(key=lambda one: -max(one[1], default=0.0))
            return [
                record,
                [float(vector @ one) for one in vectors],
                own[: parameters["statement_limit"]],
            ]

        nodes = [(self._at[key], key) for key in parameters["keys"]]
        return [
            {
                "nodes": [read("node", i, self._node(i), self.node_vectors[i]) for i, _ in nodes],
                "relationships": [
                    read("relationship", i, self._relationship(i, in_full=True), self.vectors[i])
                    for i in map(int, parameters["element_ids"])
                ],
            }
        ]

    def _count_omitted(self, _: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            {
                "omitted_nodes": 0,
                "omitted_relationships": 0,
                "other_model": None,
                "is_partial": False,
            }
        ]

    def _node(self, position: int) -> list[Any]:
        node = self.graph.nodes[position]
        properties: list[list[Any]] = [
            ["entity_key", node.key],
            ["name", node.name],
            ["description", node.description],
            ["aliases", list(node.aliases)],
            ["notes", _notes(node.notes)],
        ]
        return [str(position), [node.label], properties]

    def _relationship(self, position: int, *, in_full: bool = False) -> list[Any]:
        one = self.graph.relationships[position]
        start, end = self.graph.nodes[self._at[one.start]], self.graph.nodes[self._at[one.end]]
        properties: list[list[Any]] = [
            ["relationship_type", one.relationship_type],
            ["attitude", one.attitude],
            ["proximity", one.proximity],
        ]
        if in_full:
            properties += [["description", one.description], ["notes", _notes(one.notes)]]
        ends = [start.key, end.key, start.name, end.name, [start.label], [end.label]]
        return [str(position), one.neo4j_type, *ends, properties]


def without_marks(text: str) -> str:
    """A text without the ids of turns, which a memory set has for measuring only."""
    return MARK.sub("", text)


def _notes(contents: Sequence[str]) -> str:
    return dump_notes([Note(content=content) for content in contents])


def _best(similarities: npt.NDArray[np.floating[Any]], limit: int) -> list[int]:
    if len(similarities) > 4 * limit:
        near = np.argpartition(-similarities, limit)[:limit]
        return [int(i) for i in near[np.argsort(-similarities[near], kind="stable")]]
    return [int(i) for i in np.argsort(-similarities, kind="stable")[:limit]]


async def replay(
    graph: MadeGraph, embedder: Embedder, cache: EmbeddingCache
) -> tuple[RetrievalService, ReplayStore]:
    """The product's searches over a graph in memory."""
    of_nodes, of_relationships = graph.texts()
    entries = [without_marks(entry.embedded) for entry in graph.entries()]
    store = ReplayStore(
        graph,
        await cache.embed(list(map(without_marks, of_nodes))),
        await cache.embed(list(map(without_marks, of_relationships))),
        await cache.embed(entries),
    )
    service = RetrievalService(
        store,  # type: ignore[arg-type]
        graph.ontology,
        embedder,
        exact_scan_limit=10**9,
        oversampling=1,
        timeout=60.0,
    )
    return service, store
