"""Checks that each user has one owner: the node that stands for the user, "me"."""

from collections.abc import Iterable

from kgagent.doctor.diagnosis import Finding
from kgagent.formatting import beginning, counted
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row

MAX_NAME = 80
FIX = (
    "Make them one with merge_nodes if they are the same person; else set is_owner to false with update_node on those "
    'that are not the user. Until then tools ask which of them "me" means'
)


async def owner_findings(nodes: NodeRepository, user_id: str | None) -> list[Finding]:
    """One finding for each user who has several owners.

    Args:
        nodes: repository of the nodes.
        user_id: the user; None for all.

    Raises:
        StoreError: the database failed.
    """
    label = nodes.ontology.owner_label
    owner = nodes.names["labels"] if label is None else Identifier(label)
    rows = await nodes.store.read(statement("find_users_with_owners", owner=owner), {"user_id": user_id})
    return [
        Finding(
            "warning", f"User {row['user_id']!r} has {counted(row['owners'], 'owner')}: {_listed(row['first'])}", FIX
        )
        for row in rows
    ]


def _listed(nodes: Iterable[Row]) -> str:
    return ", ".join(f"{beginning(repr(node['name']), MAX_NAME)} ({node['entity_key']})" for node in nodes)
