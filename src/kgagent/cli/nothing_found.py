"""What commands that search say if they find nothing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph


async def nothing_found(graph: "KnowledgeGraph", user_id: str, *, texts: bool, names: bool) -> str:
    """Say that nothing was found, and what helps.

    Args:
        graph: the graph that was searched.
        user_id: owner of the graph.
        texts: whether the search has texts that are compared by meaning.
        names: whether it has names.

    Raises:
        StoreError: the database failed.
    """
    if not await graph.retrieval.best_connected_nodes(user_id=user_id, limit=1):
        return (
            f"Nothing found in the graph of user {user_id}, which is empty. Load data with kgagent load, or choose "
            "another user with --user."
        )
    helps = {"another spelling or a part of a name": names, "a lower --threshold": texts}
    advice = [what for what, does in helps.items() if does]
    return (
        f"Nothing found in the graph of user {user_id}. Try {' or '.join(advice)}. kgagent doctor --user {user_id} "
        f"says whether its records can be searched, and kgagent migrate --user {user_id} makes those of an old graph "
        "searchable."
    )
