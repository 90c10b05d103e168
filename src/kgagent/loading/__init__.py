"""Nodes and relationships from JSON Lines files into a user's graph."""

from kgagent.loading.load import load_file
from kgagent.loading.report import LineProblem, LoadReport, Tally

__all__ = ["LineProblem", "LoadReport", "Tally", "load_file"]
