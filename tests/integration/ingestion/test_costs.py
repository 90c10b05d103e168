"""What reading a long document costs."""

import json

from kgagent import KnowledgeGraph
from kgagent.ingestion import Ingestor, Source
from tests.support.openai_models import Body, Turn, scripted_model
from tests.support.reading import chat_model

PARTS = 10
MAX_REQUESTS, MAX_CHARACTERS = 12, 250_000

DIARY = Source(
    name="Diary",
    text="\n\n".join(
        f"# Month {n}\n\n"
        + f"Person {n} met Person {n + 1}, and it rained as in {2000 + n}. " * 120
        for n in range(1, PARTS + 1)
    ),
)


def remembers(number: int, **more: object) -> Turn:
    """Records what a month says."""
    people = [f"Person {number}", f"Person {number + 1}"]
    met = {
        "from": people[0],
        "to": people[1],
        "relationship_type": "acquaintance",
        "description": f"{people[0]} met {people[1]} in the rain of {2000 + number}.",
    }
    said: Body = {
        "nodes": [{"label": "Person", "name": name} for name in people],
        "relationships": [met],
        "part_done": True,
    }
    return lambda _: [("remember", said | more)]


async def test_ten_parts_take_about_one_request_each(graph: KnowledgeGraph, user_id: str) -> None:
    turns = [remembers(number) for number in range(1, PARTS + 1)]
    looks: Turn = lambda _: [("explore", {"text_matches": ["Person 1"]})]  # noqa: E731
    fails = remembers(5, nodes=[{"label": "Ship", "name": "Vega"}])
    with scripted_model(looks, *turns[:4], fails, *turns[4:]) as model:
        report = await Ingestor(graph, chat_model(model), user_id=user_id).ingest(DIARY)
        prompts = [json.dumps(request, ensure_ascii=False) for request in model.requests]
    assert (report.state, report.parts, report.requests) == ("complete", PARTS, MAX_REQUESTS)
    assert sum(map(len, prompts)) < MAX_CHARACTERS
    # What the part before recorded stands above the next one.
    assert "Person 9 met Person 10 in the rain of 2009." in prompts[-1]
