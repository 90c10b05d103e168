"""remember: create and update many nodes, relationships and notes in one call."""

from typing import TYPE_CHECKING

from kgagent.answers.safe_text import safe_name
from kgagent.errors import InputError, KgAgentError
from kgagent.formatting import counted
from kgagent.graph.passages import passages_of
from kgagent.graph.sources import SourceText, save_sources
from kgagent.ontology import Ontology
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.items import ListName, RememberArguments, Unchecked
from kgagent.tools.remember_results import RememberResult, remember_result
from kgagent.tools.write_items import Item, ItemWriter, Position
from kgagent.turns import in_turns

if TYPE_CHECKING:
    from collections.abc import Sequence


class Remember(Tool[RememberArguments]):
    """Creates and updates nodes, relationships and notes."""

    name = "remember"
    arguments = RememberArguments
    result = RememberResult
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Store what you learned in one call: nodes ({', '.join(ontology.labels)}), "
            "relationships and notes. Creates what is missing, updates what exists; a new "
            "description replaces the old, a new type is added. What lasts is a description, what "
            "happened is a note. "
            'Refer to a node by name, entity_key, or `ref` of this call; "me" is the owner. Items '
            'fail independently. Work out dates such as "last Friday". '
            'Example: {"nodes": [{"label": "Person", "name": "Ruth Calder", "description": "Naval '
            'architect."}], '
            '"relationships": [{"from": "Ruth Calder", "to": "me", "relationship_type": "mentor '
            'of", "attitude": 5}], '
            '"notes": [{"on": "Harvest fair", "content": "Moved to May.", "when": "2023-05"}], '
            '"said_on": "2023-04-02"}.'
        )

    async def run(self, context: ToolContext, arguments: RememberArguments) -> RememberResult:
        """Store the items."""
        given: dict[ListName, Sequence[Unchecked[Item]]] = {
            "nodes": arguments.nodes,
            "relationships": arguments.relationships,
            "notes": arguments.notes,
        }
        if not any(given.values()) and arguments.source_text is None:
            raise InputError("Nothing to remember: give nodes, relationships or notes")
        unchecked: dict[Position, Unchecked[Item]] = {
            (name, index): item for name, items in given.items() for index, item in enumerate(items)
        }
        checked = await in_turns(_validated, unchecked.values())
        items: dict[Position, Item] = {}
        failures: dict[Position, KgAgentError] = {}
        for position, outcome in zip(unchecked, checked, strict=True):
            if isinstance(outcome, InputError):
                failures[position] = outcome
            else:
                items[position] = outcome
        source, said = await _stored_source(context, arguments)
        writer = ItemWriter(
            context,
            items,
            {
                name: index
                for list_name, index in failures
                if list_name == "nodes"
                for name in arguments.nodes[index].names
            },
            said_on=arguments.said_on,
            source=source,
            idempotency_key=arguments.idempotency_key,
            advice="Add it to nodes to create it",
        )
        written = await writer.run()
        written.failures |= failures
        if arguments.source_text is not None:
            parts = counted(len(passages_of(arguments.source_text)), "passage")
            text = f"The text of {safe_name(arguments.source or '')} is stored in {parts}"
            written.notices[:0] = [text, *said]
        titles = {position: item.title for position, item in unchecked.items()}
        return remember_result(context.ontology, writer.items, written, titles)


async def _stored_source(
    context: ToolContext, arguments: RememberArguments
) -> tuple[str | None, tuple[str, ...]]:
    """The source of a call, once its text is stored, if it has one; and what to say of the text.

    Raises:
        KgAgentError: the text was not stored.
    """
    if arguments.source is None or arguments.source_text is None:
        return arguments.source, ()
    source = SourceText(
        name=arguments.source, text=arguments.source_text, said_on=arguments.said_on
    )
    [saved] = await save_sources(context.graph, context.resolver, [source])
    if isinstance(saved, KgAgentError):
        raise saved
    return saved.record.entity_key, saved.warnings


def _validated(item: Unchecked[Item]) -> Item | InputError:
    try:
        return item.validated()
    except InputError as error:
        return error
