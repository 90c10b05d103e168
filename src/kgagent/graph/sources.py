"""Sources with their text: a conversation, a document or a page, found by its name or created."""

import asyncio
import hashlib
import json
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import StringConstraints

from kgagent.errors import InputError, KgAgentError
from kgagent.formatting import encodable
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.passages import passages_of
from kgagent.graph.property_names import SOURCE_TEXT
from kgagent.graph.quotes import lost_quotes
from kgagent.graph.references import Resolver
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import WriteResult
from kgagent.models import GraphNode
from kgagent.models.fields import Text
from kgagent.models.request import RequestModel
from kgagent.models.when import WhenPeriod
from kgagent.names import normalised_name

SourceWords = Annotated[str, StringConstraints(min_length=1, max_length=5_000_000)]


class SourceText(RequestModel):
    """The text of a source.

    Attributes:
        id: where it comes from, such as the path of a file, by which it is found; empty for none.
        name: title of the source, by which it is found without an id.
        text: all that was said or written.
        description: one sentence about it.
        said_on: date of a conversation or a document, in EDTF.
    """

    id: str = ""
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
    text: SourceWords
    description: Text = ""
    said_on: WhenPeriod | None = None


async def save_sources(
    graph: UserGraph, resolver: Resolver, sources: Sequence[SourceText]
) -> list[WriteResult[GraphNode] | KgAgentError]:
    """Store the texts of sources, each with its passages; a text that is stored already costs
    nothing.

    Args:
        graph: the records of the user.
        resolver: finds the sources by their names.
        sources: the texts; one of a source that exists replaces its text, and keeps its name.

    Returns:
        The source of each text, or why it was not stored; warnings say which quotes notes lose.

    Raises:
        InputError: the ontology has no label for sources.
        StoreError: the database failed before anything was written.
    """
    label = graph.nodes.ontology.source_label
    if label is None:
        raise InputError(
            "The ontology has no source_label, so that no text of a source can be stored"
        )
    # Long texts take a while, during which other users' calls go on.
    await asyncio.to_thread(lambda: [passages_of(source.text) for source in sources])
    keys = [
        key_of_id(source.id, graph.user_id) if source.id else _new_key(graph, label, source.name)
        for source in sources
    ]
    found = await resolver.find(graph.user_id, names=[one.name for one in sources], keys=keys)
    outcomes: dict[int, WriteResult[GraphNode] | KgAgentError] = {}
    intents: dict[int, NodeIntent] = {}
    for position, (source, new_key) in enumerate(zip(sources, keys, strict=True)):
        try:
            if source.id:
                key = new_key
            elif any(
                node.entity_key == source.name or node.is_called(source.name)
                for node in found.nodes(source.name, label)
            ):
                key = found.key(source.name, label)
            elif found.node(new_key) is None:
                key = new_key
            else:
                # A source that was created with this name has another one now.
                moment = graph.context.clock().isoformat()
                key = _new_key(graph, label, source.name, moment)
        except InputError as error:
            outcomes[position] = error
            continue
        given = {"description": source.description, "said_on": source.said_on}
        intents[position] = NodeIntent(
            entity_key=key,
            label=label,
            mode="either",
            initial={"name": source.name},
            values={SOURCE_TEXT: source.text, **{name: one for name, one in given.items() if one}},
        )
    stored = {
        intent.entity_key: sources[position].text
        for position, intent in intents.items()
        if found.node(intent.entity_key) is not None
    }
    losing, said = await lost_quotes(graph, stored) if stored else ([], {})
    written = await compare_and_set(
        GraphStrategy(graph), [*intents.values(), *losing], attempts=graph.context.attempts
    )
    for (position, intent), outcome in zip(intents.items(), written, strict=False):
        outcomes[position] = outcome
        if isinstance(outcome, WriteResult) and intent.entity_key in said:
            warnings = (*outcome.warnings, said[intent.entity_key])
            outcomes[position] = replace(outcome, warnings=warnings)
    return [outcomes[position] for position in range(len(sources))]


def key_of_id(identity: str, user_id: str) -> str:
    """The key of the source with an id, however it is read; the id itself is not stored."""
    plain = unicodedata.normalize("NFC", encodable(identity))
    return hashlib.sha256(json.dumps(["source id", plain, user_id]).encode()).hexdigest()


def _new_key(graph: UserGraph, label: str, name: str, moment: str = "") -> str:
    """The key of a new source, the same for concurrent calls with one name."""
    return graph.nodes.ontology.label(label).entity_key(
        name=name,
        description="",
        user_id=graph.user_id,
        created_at="",
        idempotency_key=f"source {normalised_name(name)} {moment}",
    )
