"""The properties in which ingestion keeps its progress on a source's node, and how they survive a merge of nodes."""

import json
from collections.abc import Mapping
from typing import Any

_PROGRESS = "ingestion_progress"
_MERGED = "ingestion_merged"

INGESTION_PROPERTIES = frozenset({"ingestion_run", _PROGRESS, "ingestion_messages", _MERGED})
"""Bookkeeping of ingestion on nodes; never part of a result."""


def merge_ingestion_state(kept: Mapping[str, Any], dropped: Mapping[str, Any]) -> dict[str, Any]:
    """The properties with which a node remembers the sources merged into it, so that none is read again as a new one.

    Args:
        kept: properties of the node that is kept.
        dropped: properties of the node that is merged into it.
    """
    progress = merged_sources(dropped.get(_MERGED))
    if _PROGRESS in dropped:
        progress[str(dropped["entity_key"])] = dropped[_PROGRESS]
    if not progress:
        return {}
    return {_MERGED: json.dumps(merged_sources(kept.get(_MERGED)) | progress)}


def merged_sources(stored: object) -> dict[str, Any]:
    """The stored progress of each source that was merged into a node, by its key; empty if none was."""
    try:
        decoded = json.loads(stored) if isinstance(stored, str) else None
    except ValueError:
        return {}
    return decoded if isinstance(decoded, dict) else {}
