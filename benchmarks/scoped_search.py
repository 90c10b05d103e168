"""One user's relationship search in databases of many users and increasing size, compared with
other toolkits.

    python benchmarks/scoped_search.py --sizes 10000,100000 --metaqa /path/to/metaqa --json

The users are unequal: one has half of all relationships, hundreds have 10, one has 1; and 3
relationships have a type that no other has. All methods run the same questions in rotating order,
on the same server in the same run.
"""

import argparse
import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from _asking import (
    FLOOR_SEARCH,
    LIMIT,
    WARM_UP,
    Ask,
    Ends,
    Measured,
    bare,
    compare,
    driver_of,
    fetched,
    nearest,
)
from _common import Server, finish, kept_server, open_graph, p50, p95, parser, server, show, timed
from _made_graph import (
    MIDDLE_USERS,
    RARE_TYPE,
    Content,
    Owner,
    Vectors,
    as_embedding,
    load_then_index,
    scoped_owners,
)
from _peers import GRAPHITI, LANGCHAIN, copy_for_graphiti, graphiti, installed, langchain
from _vectors import Corpus, MetaQA, made

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of

DIMENSIONS = 384
THRESHOLD = -1.0
KGAGENT, FLOOR_SAME, FLOOR = "kgagent", "floor, same fetch", "floor, 20 fetched"
SMALL_USERS_ASKED = 30

FLOOR_STATEMENT = f"""{FLOOR_SEARCH}
RETURN elementId(r) AS id, type(r) AS type, startNode(r).entity_key AS from_key, endNode(r).entity_key AS to_key,
  startNode(r).name AS from_name, endNode(r).name AS to_name, r.relationship_type AS relationship_type,
  r.description AS description, r.attitude AS attitude, r.proximity AS proximity, r.notes AS notes,
  toString(r.created_at) AS created_at, toString(r.updated_at) AS updated_at, 2.0 * score - 1.0 AS similarity
"""

Question = tuple[Owner, Vectors, set[Ends]]


@dataclass(frozen=True)
class Run:
    """One size: its users, their relationships and their questions."""

    everyone: Sequence[Owner]
    corpus: Corpus

    def asked_of(self, owners: Sequence[Owner], count: int) -> list[Question]:
        """Questions of some users in turn, each with its expected result."""
        questions = []
        for number in range(count):
            owner, query = (
                owners[number % len(owners)],
                self.corpus.questions[number % len(self.corpus.questions)],
            )
            questions.append((owner, query, nearest(owner, self.corpus.vectors, query)))
        return questions

    @property
    def half(self) -> Owner:
        """The user who has half of all relationships."""
        return self.everyone[0]

    def groups(self) -> dict[str, Sequence[Owner]]:
        """The other users by number of relationships."""
        middle, small = self.everyone[1 : 1 + MIDDLE_USERS], self.everyone[1 + MIDDLE_USERS : -1]
        return {
            f"users with {middle[0].count:,}": middle,
            f"users with {small[0].count}": small[:SMALL_USERS_ASKED],
            "a user with 1": self.everyone[-1:],
        }


@dataclass
class Search:
    """kgagent's search; records the search plans."""

    graph: KnowledgeGraph
    relationship_types: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self.plans: set[str] = set()

    async def __call__(self, owner: Owner, query: Vectors) -> list[Ends]:
        """Ask."""
        matches = await self.graph.retrieval.relationship_vector_search(
            vector=as_embedding(query),
            threshold=THRESHOLD,
            user_id=owner.user_id,
            relationship_types=self.relationship_types,
            limit=LIMIT,
        )
        self.plans.add(matches.plan)
        return [(match.from_entity_key, match.to_entity_key) for match in matches]


async def measure(arguments: argparse.Namespace, where: Server, run: Run) -> dict[str, object]:
    """Load the graph of one size, run the questions, and compute the figures."""
    total = sum(owner.count for owner in run.everyone)
    dimensions = run.corpus.vectors.shape[1]
    embedder, settings = HashingEmbedder(dimensions), Settings()
    async with AsyncExitStack() as stack:
        graph = await stack.enter_async_context(
            open_graph(where, embedder, settings, users=[owner.user_id for owner in run.everyone])
        )
        if not services_of(graph).store.features.filtered_vector_indexes:
            raise SystemExit(
                f"This benchmark needs Neo4j 2026.01 or later, got "
                f"{services_of(graph).store.features.version}"
            )
        driver = await stack.enter_async_context(driver_of(where))
        content = Content(run.everyone, run.corpus.vectors, run.corpus.texts, rare_of=run.half)
        load_seconds = (
            None if where.is_loaded else (await timed(load_then_index(graph, embedder, content)))[1]
        )
        kgagent = Search(graph)
        fetch = fetched(settings)
        ways: dict[str, Ask] = {
            KGAGENT: kgagent,
            FLOOR_SAME: bare(driver, graph, FLOOR_STATEMENT, fetch=fetch),
            FLOOR: bare(driver, graph, FLOOR_STATEMENT, fetch=LIMIT),
        }
        peers = installed()
        if LANGCHAIN in peers:
            ways[LANGCHAIN] = langchain(where, dimensions)
        if GRAPHITI in peers and total > arguments.max_graphiti_relationships:
            print(
                f"{GRAPHITI} is not asked at {total:,} relationships: its copy of them would be "
                f"too large",
                flush=True,
            )
        elif GRAPHITI in peers:
            if not where.is_loaded:
                await copy_for_graphiti(graph, where, list(run.everyone))
            ways[GRAPHITI] = await graphiti(where, stack)
        if where.loaded is not None:
            where.loaded.touch()
        measured = await compare(
            ways,
            run.asked_of([run.half], arguments.questions + WARM_UP),
            at_most={GRAPHITI: WARM_UP + arguments.graphiti_questions},
        )
        others, plans = await ask_others(graph, run, arguments.questions)
    show(
        f"{total:,} relationships ({run.corpus.source}) x {dimensions}, asked by the user who has "
        f"{run.half.count:,}",
        [each.row(name) for name, each in measured.items()],
    )
    show(
        "kgagent, asked by others",
        [{**each.row(name), "plan": plans[name]} for name, each in others.items()],
    )
    return figures(run, measured, others) | {
        "plan": "+".join(sorted(kgagent.plans)),
        "plans_of_others": plans,
        "fetch": fetch,
        "load_and_index_seconds": load_seconds,
        "server": services_of(graph).store.features.version,
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


async def ask_others(
    graph: KnowledgeGraph, run: Run, count: int
) -> tuple[dict[str, Measured], dict[str, str]]:
    """Run the questions of users who have less, and those for the type that only three
    relationships have.
    """
    measured: dict[str, Measured] = {}
    plans: dict[str, str] = {}
    for name, owners in run.groups().items():
        search = Search(graph)
        measured |= {
            name: (await compare({name: search}, run.asked_of(owners, count + WARM_UP)))[name]
        }
        plans[name] = "+".join(sorted(search.plans))
    rare = Search(graph, [RARE_TYPE])
    right = {run.half.ends(position) for position in run.half.rare}
    questions = [(run.half, query, right) for query in run.corpus.questions]
    name = f"the type of {len(right)}"
    measured |= {name: (await compare({name: rare}, questions))[name]}
    plans[name] = "+".join(sorted(rare.plans))
    return measured, plans


def figures(
    run: Run, measured: dict[str, Measured], others: dict[str, Measured]
) -> dict[str, object]:
    """The figures of a size in the JSON output."""
    ours, plain, same = measured[KGAGENT], measured[FLOOR], measured[FLOOR_SAME]
    result: dict[str, object] = {
        "relationships": sum(owner.count for owner in run.everyone),
        "vectors": run.corpus.source,
        "dimensions": run.corpus.vectors.shape[1],
        "users": len(run.everyone),
        "questions": len(ours.seconds),
        "p50_ms": 1e3 * p50(ours.seconds),
        "p95_ms": 1e3 * p95(ours.seconds),
        "recall_at_20": ours.recall,
        "min_recall_at_20": min(ours.recalls),
        "foreign_rows": sum(each.foreign for each in (ours, *others.values())),
        "missing_rows": sum(each.missing for each in (ours, *others.values())),
        "floor_p50_ms": 1e3 * p50(plain.seconds),
        "floor_same_fetch_p50_ms": 1e3 * p50(same.seconds),
        "floor_recall_at_20": plain.recall,
        "ratio_to_floor_p50": p50(ours.seconds) / p50(plain.seconds),
        "ratio_to_floor_same_fetch_p50": p50(ours.seconds) / p50(same.seconds),
        "others": {
            name: {
                "p50_ms": round(1e3 * p50(each.seconds), 3),
                "recall_at_20": round(each.recall, 4),
            }
            for name, each in others.items()
        },
    }
    for name, short in ((GRAPHITI, "graphiti"), (LANGCHAIN, "langchain")):
        peer = measured.get(name)
        result |= {
            f"speedup_over_{short}_p50": p50(peer.seconds) / p50(ours.seconds) if peer else None,
            f"{short}_p50_ms": 1e3 * p50(peer.seconds) if peer else None,
            f"{short}_recall_at_20": peer.recall if peer else None,
            f"{short}_missing_rows": peer.missing if peer else None,
            f"{short}_questions": len(peer.seconds) if peer else 0,
        }
    return result


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--sizes", default="10000,100000,1000000", help="relationships in all, one or several"
    )
    arguments.add_argument(
        "--metaqa", type=Path, help="folder with kb.txt and questions.jsonl; else made vectors"
    )
    arguments.add_argument(
        "--embeddings-cache", type=Path, help=".npy file that keeps the embeddings of kb.txt"
    )
    arguments.add_argument(
        "--dimensions", type=int, default=DIMENSIONS, help="length of made vectors"
    )
    arguments.add_argument("--questions", type=int, default=100, help="questions of each kind")
    arguments.add_argument(
        "--graphiti-questions", type=int, default=20, help="questions that graphiti is asked"
    )
    arguments.add_argument(
        "--max-graphiti-relationships",
        type=int,
        default=200_000,
        help="relationships that are copied for it",
    )
    arguments.add_argument(
        "--keep", type=Path, help="folder that keeps what was loaded for a next run like this one"
    )
    chosen = arguments.parse_args()
    text = MetaQA(chosen.metaqa, chosen.embeddings_cache) if chosen.metaqa else None
    for size in map(int, chosen.sizes.split(",")):
        questions = chosen.questions + WARM_UP
        if text is not None and size <= len(text):
            corpus = text.corpus(chosen.seed, size, questions)
        else:
            corpus = made(chosen.seed, chosen.dimensions, size, questions)
        run = Run(scoped_owners(f"benchmark{chosen.seed}", size), corpus)
        home = (
            chosen.keep
            and chosen.keep / f"{size}-{corpus.source}-{corpus.vectors.shape[1]}-{chosen.seed}"
        )
        with kept_server(home) if home else server(chosen.uri) as where:
            finish(asyncio.run(measure(chosen, where, run)), as_json=chosen.json)


if __name__ == "__main__":
    main()
