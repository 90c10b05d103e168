"""Migrating a graph to the present form: one current embedding per node and relationship, and no old properties."""

from kgagent.migration.migrate import migrate
from kgagent.migration.report import Counts, MigrationReport, MigrationStoppedError, Skipped
from kgagent.migration.store_texts import migrate_store_texts

__all__ = ["Counts", "MigrationReport", "MigrationStoppedError", "Skipped", "migrate", "migrate_store_texts"]
