"""Loads nodes and relationships from JSON Lines files into a user's graph."""

from kgagent.loading.load import load_file
from kgagent.loading.report import LineProblem, LoadCounts, LoadReport

__all__ = ["LineProblem", "LoadReport", "LoadCounts", "load_file"]
