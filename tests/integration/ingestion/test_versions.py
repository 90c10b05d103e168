"""A source whose text changes is read as a newer version if the caller gives it an id."""

from kgagent import KnowledgeGraph
from kgagent.ingestion import IngestionReport, Ingestor, Limits, Source, Turn
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.openai_models import Body, Calls, deciding_model
from tests.support.reading import CALL, NODES, NOTE, careful_reader, chat_model
from tests.support.stored import (
    all_of,
    assert_embeddings_are_current,
    nodes_of,
    note_contents,
    relationships_of,
)

KNOWN = CALL.model_copy(update={"id": "calls/ruth"})
GROWN = KNOWN.model_copy(
    update={"turns": (*KNOWN.turns, Turn(speaker="Iris", text="I will come."))}
)
ADDED = "Iris will visit Halden Yard."
SMALL = Limits(part_tokens=100)
LETTER = Source(
    id="letter",
    name="Letter",
    text="\n\n".join(f"Chapter {n}. " + f"On day {n} it rained. " * 12 for n in (1, 2, 3)),
)


def attentive_reader(outputs: list[Body]) -> Calls | str:
    """Do as the careful one, then add a second note."""
    said = careful_reader(outputs)
    if not isinstance(said, str) or ADDED in str(outputs):
        return said
    keys = {node["name"]: node["entity_key"] for node in outputs[0]["nodes"]}
    keys |= {output["node"]["name"]: output["entity_key"] for output in outputs if "node" in output}
    ends = {"from_entity_key": keys["Ruth"], "to_entity_key": keys["Iris"]}
    return [("add_note_to_relationship", {**ends, "content": ADDED, "lifetime": "forever"})]


def looking_reader(outputs: list[Body]) -> Calls | str:
    """Look, and find nothing worth keeping."""
    return "Nothing is worth keeping." if outputs else [("explore", {"text_matches": ["rain"]})]


async def read(
    graph: KnowledgeGraph, user_id: str, source: Source, **options: bool
) -> IngestionReport:
    with deciding_model(attentive_reader if source is GROWN else careful_reader) as model:
        return await Ingestor(graph, chat_model(model), user_id=user_id).ingest(source, **options)


async def sources(graph: KnowledgeGraph, user_id: str) -> list[Body]:
    return [dict(node) for node in await nodes_of(graph, user_id) if "content_hash" in node]


async def test_longer_source_keeps_its_node_and_adds_only_the_new_note(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock, user_id: str
) -> None:
    first = await read(graph, user_id, KNOWN)
    assert not first.updated
    report = await read(graph, user_id, GROWN)
    assert (report.state, report.updated, report.resumed) == ("complete", True, False)
    assert report.source_entity_key == first.source_entity_key
    [source] = await sources(graph, user_id)
    assert source["content_hash"] == GROWN.fingerprint
    assert {node["name"] for node in await nodes_of(graph, user_id)} == {*NODES, KNOWN.name}
    stored = await assert_embeddings_are_current(graph, user_id, embedder, clock.now)
    [mentor] = (one for one in stored if one["relationship_type"] == "mentor")
    assert note_contents(mentor) == [NOTE, ADDED]
    assert (await read(graph, user_id, GROWN)).state == "unchanged"


async def test_prompt_lists_notes_of_the_earlier_version(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await read(graph, user_id, KNOWN)
    with deciding_model(looking_reader) as model:
        await Ingestor(graph, chat_model(model), user_id=user_id).ingest(GROWN)
    _, human = model.requests[0]["messages"]
    begins, *_, ends = (
        place for place, line in enumerate(human["content"].splitlines()) if line.startswith("---")
    )
    assert begins < human["content"].splitlines().index(f"- {NOTE}") < ends


async def test_prompt_does_not_list_notes_of_other_sources(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await read(graph, user_id, CALL.model_copy(update={"turns": CALL.turns[1:]}))
    await read(graph, f"{user_id}-other", KNOWN)
    with deciding_model(looking_reader) as model:
        await Ingestor(graph, chat_model(model), user_id=user_id).ingest(KNOWN)
        await Ingestor(graph, chat_model(model), user_id=user_id).ingest(GROWN)
    assert len(model.requests) == 4
    assert NOTE not in str([request["messages"][:2] for request in model.requests])


async def test_only_parts_that_changed_are_read_again(graph: KnowledgeGraph, user_id: str) -> None:
    grown = LETTER.model_copy(update={"text": f"{LETTER.text} Then the sun came out."})
    with deciding_model(looking_reader) as model:
        ingestor = Ingestor(graph, chat_model(model), user_id=user_id, limits=SMALL)
        first = await ingestor.ingest(LETTER)
        report = await ingestor.ingest(grown)
    assert (first.parts, {call.part for call in first.calls}) == (3, {1, 2, 3})
    assert (report.parts, report.parts_read, {call.part for call in report.calls}) == (3, 3, {3})
    assert "Then the sun came out." in model.requests[-1]["messages"][1]["content"]


async def test_the_same_text_under_another_id_or_none_is_not_read_again(
    graph: KnowledgeGraph, user_id: str
) -> None:
    first = await read(graph, user_id, KNOWN)
    before = await all_of(graph, user_id)
    for source in (CALL, KNOWN.model_copy(update={"id": "a copy"})):
        report = await read(graph, user_id, source)
        assert (report.state, report.source_entity_key) == ("unchanged", first.source_entity_key)
    assert await all_of(graph, user_id) == before


async def test_id_is_not_stored(graph: KnowledgeGraph, user_id: str) -> None:
    await read(graph, user_id, KNOWN)
    nodes, relationships = await all_of(graph, user_id)
    assert KNOWN.id not in str((nodes, relationships))
    assert len(await relationships_of(graph, user_id)) == 2
