"""Toolsets: groups of tools, of which a surface offers some to a model."""

from collections.abc import Iterable, Mapping, Sequence

from kgagent.errors import InputError
from kgagent.names import did_you_mean

TOOLSETS: Mapping[str, Sequence[str]] = {
    "core": (
        "remember",
        "explore",
        "hybrid_search",
        "get_relationship",
        "create_relationship",
        "update_relationship",
        "add_note_to_relationship",
        "delete_relationship",
        "delete_node",
        "merge_nodes",
    ),
    "graph": ("describe_graph", "traverse", "find_paths", "find_duplicates", "read_source"),
    "patterns": ("describe_graph", "query_patterns"),
    "admin": (
        "create_node",
        "update_node",
        "update_note",
        "delete_note",
        "delete_relationship",
        "delete_node",
        "merge_nodes",
        "restore",
    ),
}
"""Tools by toolset. core: what an agent needs for memory, and to undo its mistakes; graph: paths,
traversal, schema, duplicates and the words of sources; patterns: structured questions; admin:
single nodes, correcting notes, deleting, restoring and merging."""

ALL = "all"
"""Stands for every toolset."""


def tools_of(toolsets: str | Iterable[str]) -> frozenset[str]:
    """The names of the tools of some toolsets.

    Args:
        toolsets: names of toolsets, as a collection or separated by commas; "all" for all of them.

    Raises:
        InputError: a name is unknown, or there is none.
    """
    names = [
        name.strip() for name in (toolsets.split(",") if isinstance(toolsets, str) else toolsets)
    ]
    known = (*TOOLSETS, ALL)
    for name in names:
        if name not in known:
            raise InputError(
                " ".join(
                    filter(
                        None,
                        (f"Unknown toolset: {name!r}.", did_you_mean(name, known), _listed(known)),
                    )
                )
            )
    if not names:
        raise InputError(f"No toolset is given. {_listed(known)}")
    return frozenset(
        tool for name in (TOOLSETS if ALL in names else names) for tool in TOOLSETS[name]
    )


def toolsets_with(tool: str) -> list[str]:
    """The toolsets that contain a tool; empty if it does not exist."""
    return [name for name, tools in TOOLSETS.items() if tool in tools]


def why_missing(tool: str, offered: Iterable[str]) -> str:
    """Explain that a tool is not offered: which toolset contains it, or that it does not exist.

    Args:
        tool: name that was called or chosen.
        offered: names of the tools that are offered.
    """
    there_are = f"there are {', '.join(offered)}"
    if toolsets := toolsets_with(tool):
        return (
            f"{tool} belongs to the toolset {' or '.join(toolsets)}, which is not offered here; "
            f"{there_are}"
        )
    return f"No tool is called {tool[:100]!r}; {there_are}"


def _listed(known: Iterable[str]) -> str:
    return f"Toolsets: {', '.join(known)}"
