"""merge_nodes: two nodes turn out to be the same thing."""

from pydantic import Field

from kgagent.errors import KgAgentError
from kgagent.graph.node_merge import MergeIntent
from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, EntityKey, Payload, Tool, ToolContext


class MergeNodesArguments(Arguments):
    """Arguments of merge_nodes."""

    keep_entity_key: EntityKey = Field(description="entity_key of the node that stays, with its key and its name.")
    drop_entity_key: EntityKey = Field(description="entity_key of the node that is merged into it and is gone then.")


class MergeNodes(Tool[MergeNodesArguments]):
    """Merges two nodes."""

    name = "merge_nodes"
    arguments = MergeNodesArguments

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            f"Merge two nodes of one label ({', '.join(ontology.labels)}) that are the same thing. The first keeps its "
            "key, its name and all that is said of it; it gets the relationships and notes of the second, and what it "
            "lacks itself. Where both are joined with the same node, the two relationships become one. All or nothing, "
            "and it cannot be undone: look at both before, and add a note where the name or the description of "
            "`dropped_node` in the answer said more."
        )

    async def run(self, context: ToolContext, arguments: MergeNodesArguments) -> Payload:
        """Merge them.

        Raises:
            InputError: a node does not exist, or the two cannot be merged.
        """
        intent = MergeIntent(keep=arguments.keep_entity_key, drop=arguments.drop_entity_key)
        [merged] = await context.node_merger().apply([intent])
        if isinstance(merged, KgAgentError):
            raise merged
        dropped = merged.dropped_node
        return {
            "message": f"Merged {dropped.name or dropped.entity_key} into {merged.node.label} {merged.node.name}",
            "dropped_node": dropped.model_copy(update={"notes": (), "properties": {}}).to_dict(),
            "relationships_moved": merged.moved,
            "relationships_united": merged.united,
            "relationships_dropped": merged.dropped,
            "sources_renamed": merged.sources,
            "embeddings_regenerated": merged.embedded,
            "node": merged.node.to_dict(),
        }
