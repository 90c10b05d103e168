"""Migrating a graph to the current form: one current embedding per node and relationship, and no old properties."""

from kgagent.migration.graph_migration import migrate_graph
from kgagent.migration.migrate import migrate
from kgagent.migration.report import Counts, MigrationReport, MigrationStoppedError, Skipped

__all__ = ["Counts", "MigrationReport", "MigrationStoppedError", "Skipped", "migrate", "migrate_graph"]
