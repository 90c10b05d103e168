"""How a migration writes: the strategies of the tools, with options that keep the content of every record."""

from dataclasses import dataclass, replace

from kgagent.errors import InputError
from kgagent.graph.conditions import Defect, stored_level
from kgagent.graph.nodes import NodeIntent, NodeWriteOptions
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent, RelationshipWriteOptions
from kgagent.ontology import Ontology


@dataclass(frozen=True, kw_only=True)
class NodeMigration(NodeIntent):
    """A node to migrate.

    Attributes:
        element_id: id of the node that was examined.
    """

    element_id: str


@dataclass(frozen=True, kw_only=True)
class RelationshipMigration(RelationshipIntent):
    """A relationship to migrate.

    Attributes:
        element_id: id of the relationship that was examined.
    """

    element_id: str


def node_options(*, dry_run: bool) -> NodeWriteOptions:
    """Options for nodes: an intent is refused if another node has the examined node's key."""

    def prepare(intent: NodeIntent, stored: NodeRecord | None) -> NodeIntent:
        if isinstance(intent, NodeMigration):
            _check_element_id(intent.element_id, stored, "another node has the same entity_key")
        return intent

    return NodeWriteOptions(prepare=prepare, keep_updated_at=True, dry_run=dry_run)


def relationship_options(ontology: Ontology, *, dry_run: bool) -> RelationshipWriteOptions:
    """Options for relationships: levels become numbers, and relationships get the owner of their nodes.

    Of several relationships of one type between two nodes, only the one that the tools use is migrated.
    """

    def prepare(intent: RelationshipIntent, stored: RelationshipRecord | None) -> RelationshipIntent:
        if isinstance(intent, RelationshipMigration):
            _check_element_id(intent.element_id, stored, str(Defect.DUPLICATE))
        return intent if stored is None else replace(intent, values=levels(ontology, stored))

    return RelationshipWriteOptions(prepare=prepare, adopt_foreign=True, keep_updated_at=True, dry_run=dry_run)


def levels(ontology: Ontology, record: RelationshipRecord) -> dict[str, int | None]:
    """Attitude and proximity as numbers.

    Raises:
        InputError: one of them is neither 1 to 5 nor a word of the type.
    """
    return {field: stored_level(ontology, record, field) for field in LEVEL_FIELDS}


def _check_element_id(element_id: str, stored: Record | None, reason: str) -> None:
    if stored is not None and stored.element_id != element_id:
        raise InputError(f"{reason} ({stored.element_id})")
