"""A real Neo4j on this machine, for people who have none."""

from kgagent.local.artifacts import fetch

__all__ = ["fetch"]
