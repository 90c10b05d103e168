"""kgagent eval: what a model finds in the answers, beside plain dense search."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from _quality_sets import read_sets
from _replay import EmbeddingCache, replay
from quality import Measured

from kgagent import KnowledgeGraph
from kgagent.cli.demo.sample import questions as sample_questions
from kgagent.cli.demo.sample import sample_file
from kgagent.embedding.local import LocalEmbedder
from kgagent.evaluation import Question, evaluate, place_of
from kgagent.knowledge_graph import services_of
from tests.integration.cli.conftest import Kgagent
from tests.support.local_model import embedder

__all__ = ["embedder"]

MENTOR = {"question": "who is my mentor?", "names": ["Ruth Adeyemi"]}


def written(path: Path, lines: Sequence[Mapping[str, object]]) -> str:
    """A file of JSON Lines."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return str(path)


@pytest.fixture
def jobs(kgagent: Kgagent, tmp_path: Path) -> None:
    """A graph in which one employer is past."""
    lines: list[Mapping[str, object]] = [
        {"kind": "node", "label": "Person", "id": "ada", "name": "Ada Orr"},
        {"kind": "node", "label": "Entity", "id": "acme", "name": "Acme"},
        {"kind": "node", "label": "Entity", "id": "bolt", "name": "Bolt"},
        {
            "kind": "relationship",
            "from": "ada",
            "to": "acme",
            "relationship_type": "works at",
            "when": "2015/2018",
        },
        {
            "kind": "relationship",
            "from": "ada",
            "to": "bolt",
            "relationship_type": "works at",
            "when": "2019/..",
            "notes": ["Repairs the looms of the upper floor."],
        },
    ]
    assert kgagent("load", written(tmp_path / "jobs.jsonl", lines)).code == 0


def test_a_file_of_questions_is_measured_beside_dense_search_and_nothing_is_written(
    kgagent: Kgagent, family: Path, tmp_path: Path
) -> None:
    kgagent("load", str(family))
    kgagent("export", "before.jsonl")
    absent = {"question": "who is my mentor?", "contains": "mentor elephant"}
    asked = written(tmp_path / "asked.jsonl", [MENTOR, absent])
    measured = kgagent("eval", asked, "--json")
    assert measured.code == 0
    for search in ("kgagent", "dense"):
        assert (
            measured.payload[search]["found@250"] == measured.payload[search]["found@1000"] == 0.5
        )
    assert measured.payload["kgagent"]["line"] >= 1
    assert measured.payload["missed"] == [absent["question"]]
    kgagent("export", "after.jsonl")
    assert Path("after.jsonl").read_bytes() == Path("before.jsonl").read_bytes()
    shown = kgagent("eval", asked)
    assert [line.split()[1] for line in shown.out.splitlines() if "found@" in line]


@pytest.mark.usefixtures("jobs")
def test_questions_are_made_of_the_graph_and_what_has_ended_is_stale(kgagent: Kgagent) -> None:
    made = kgagent("eval", "--make", "10", "--out", "made.jsonl", "--json")
    lines = [json.loads(line) for line in Path("made.jsonl").read_text("utf-8").splitlines()]
    asked = {line.pop("question"): line for line in lines}
    assert asked == {
        "Ada Orr works at who or what?": {
            "contains": ["Ada Orr works at Bolt"],
            "stale": ["Ada Orr works at Acme"],
        },
        "who or what works at Bolt?": {"contains": ["Ada Orr works at Bolt"]},
        "What is known of Ada Orr and Bolt?": {"answer": ["Repairs the looms of the upper floor."]},
    }
    assert made.payload["questions"] == list(asked)
    assert made.payload["kgagent"]["found@250"] == 1.0
    assert made.payload["kgagent"]["stale first"] == 0.0
    again = kgagent("eval", "made.jsonl", "--json")
    assert again.payload["questions"] == made.payload["questions"]


def test_the_exit_code_says_that_a_share_has_become_worse_or_is_too_small(
    kgagent: Kgagent, family: Path, tmp_path: Path
) -> None:
    kgagent("load", str(family))
    asked = written(tmp_path / "asked.jsonl", [MENTOR])
    now = kgagent("eval", asked, "--json").payload
    better = now | {"kgagent": now["kgagent"] | {"nothing relevant": -0.5}}
    for earlier, options, code in (
        (now, (), 0),
        (better, (), 1),
        (better, ("--tolerance", "1"), 0),
        (now | {"questions": ["others"]}, (), 1),
    ):
        Path("earlier.json").write_text(json.dumps(earlier), "utf-8")
        assert kgagent("eval", asked, "--compare", "earlier.json", *options).code == code
    missing = written(tmp_path / "missing.jsonl", [MENTOR | {"names": ["Ruth Adeyemi", "Nobody"]}])
    assert kgagent("eval", missing, "--min-found", "0.5").code == 0
    assert kgagent("eval", missing, "--min-found", "0.8").code == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"question": "who?"}, "give names, contains or answer"),
        ({"names": ["Ada"]}, "question"),
        ({"question": "who?", "name": "Ada"}, "name"),
    ],
)
def test_a_question_that_cannot_be_measured_is_one_line(
    kgagent: Kgagent, tmp_path: Path, line: Mapping[str, object], problem: str
) -> None:
    done = kgagent("eval", written(tmp_path / "asked.jsonl", [MENTOR, line]))
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "asked.jsonl, line 2: " in done.err
    assert problem in done.err


async def test_it_measures_what_the_benchmark_of_quality_measures(
    opened: KnowledgeGraph, embedder: LocalEmbedder, user_id: str
) -> None:
    graph = KnowledgeGraph(services_of(opened).store, opened.ontology, embedder, opened.settings)
    with sample_file() as path:
        await graph.load(path, user_id=user_id)
    asked = [Question(question=q.question, names=tuple(q.expected)) for q in sample_questions()]
    measured = (await evaluate(graph, asked, user_id=user_id)).kgagent
    sets = read_sets(None)
    [readme] = [one for one in sets.sets if one.name == "sample, README"]
    cache = EmbeddingCache(embedder, None)
    service, store = await replay(sets.graphs["sample"], embedder, cache)
    vectors = await cache.embed([one.text for one in readme.questions], are_queries=True)
    benchmark = await Measured(service, store).run(readme, readme.questions, vectors)
    for cut in (250, 500, 1_000):
        # Full-text search of the server weighs words by the texts of other tests too.
        assert measured[f"found@{cut}"] == pytest.approx(benchmark[f"@{cut}"], abs=0.15)


def test_a_place_is_the_end_of_the_statement_that_completes_a_line() -> None:
    text = "\n".join(
        (
            "Nothing clearly relevant about Ada Orr. About others:",
            "Bo Lund: Likes sailing | Met Ada Orr in Oslo | Keeps bees",
        )
    )
    place = place_of(text, ["Ada Orr", "Bo Lund"], len)
    assert place == (2, text.index(" | Keeps"))
    assert place_of(text, ["Ada Orr", "Lisbon"]) is None
    assert place_of(text, ["…"]) is None
