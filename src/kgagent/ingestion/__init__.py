"""Reads conversations and texts into the graph with a chat model that calls tools."""

from kgagent.ingestion.ingestor import Ingestor
from kgagent.ingestion.limits import Limits
from kgagent.ingestion.model_tools import DEFAULT_TOOLS
from kgagent.ingestion.report import (
    CallRecord,
    IngestionReport,
    NodeChange,
    RelationshipChange,
    TokenUsage,
)
from kgagent.ingestion.source import Source, Turn

__all__ = [
    "DEFAULT_TOOLS",
    "CallRecord",
    "IngestionReport",
    "Ingestor",
    "Limits",
    "NodeChange",
    "RelationshipChange",
    "Source",
    "TokenUsage",
    "Turn",
]
