"""get_relationship: read the relationship between two nodes."""

from pydantic import Field

from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models.answer_items import NoteItem, RelationshipItem, RenderState, item_record
from kgagent.models.answer_page import Content
from kgagent.models.token_budget import cut, cut_record
from kgagent.tools.arguments import DIRECTION_HINT, RelationshipEnds
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import JsonObject, ReadArguments, ReadToolResult, render_page
from kgagent.tools.references import with_direction


class GetRelationshipArguments(ReadArguments, RelationshipEnds):
    """Arguments of get_relationship."""


class FoundRelationship(ReadToolResult):
    """A relationship; a page of its notes, of which there are `total`.

    Attributes:
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
    """

    triplet: str
    relationship: JsonObject
    notes: tuple[JsonObject, ...] = Field((), exclude=True)


class GetRelationship(Tool[GetRelationshipArguments]):
    """Reads a relationship."""

    name = "get_relationship"
    arguments = GetRelationshipArguments
    result = FoundRelationship
    read_only = True
    text = "Read the relationship between two nodes, with its notes. " + DIRECTION_HINT

    async def run(self, context: ToolContext, arguments: GetRelationshipArguments) -> FoundRelationship:
        """Read the relationship."""
        hint = ". find_paths shows whether and how they are connected" if context.offers("find_paths") else ""
        intent = RelationshipIntent(
            from_entity_key=arguments.from_entity_key,
            to_entity_key=arguments.to_entity_key,
            neo4j_type=arguments.neo4j_type,
            missing=RelationshipIntent.missing + hint,
        )
        relationship = await context.relationships.get(context.user_id, intent)
        message = with_direction(
            f"Relationship between {relationship.from_name} and {relationship.to_name}", relationship
        )
        ends = (relationship.from_entity_key, relationship.to_entity_key)
        state = RenderState(
            now=context.write_context.clock(),
            short_keys={key: message_key(key) for key in ends},
            defaults=context.ontology.relationship_defaults,
        )
        alone = relationship.model_copy(update={"notes": ()})
        room = arguments.token_budget // 2
        [line] = RelationshipItem(alone, "relationship").lines(state)
        record = item_record(alone, state)
        content = Content(
            items=[NoteItem(note) for note in relationship.notes],
            message=message,
            opening=line.fitted(room) or cut(line.head, room),
            empty="",
            fields={"triplet": relationship.triplet, "relationship": cut_record(record, room) or {}},
        )
        answer = await render_page(FoundRelationship, context, arguments, content)
        notes = {"notes": list(answer.notes)} if answer.notes else {}
        return answer.model_copy(update={"relationship": {**answer.relationship, **notes}})
