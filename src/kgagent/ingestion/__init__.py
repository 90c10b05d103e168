"""Reads conversations and texts into the graph with a chat model that calls tools."""

from kgagent.ingestion.ingestor import Ingestor
from kgagent.ingestion.reader import Limits
from kgagent.ingestion.report import CallRecord, IngestionReport
from kgagent.ingestion.source import Source, Turn

__all__ = ["CallRecord", "IngestionReport", "Ingestor", "Limits", "Source", "Turn"]
