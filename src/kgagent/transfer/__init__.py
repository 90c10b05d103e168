"""Exporting the records of users to a file, and importing them from it, exactly as they are stored."""

from kgagent.transfer.export import ExportReport, export_records
from kgagent.transfer.import_records import import_records
from kgagent.transfer.import_report import ImportConflict, ImportCounts, ImportReport

__all__ = ["ExportReport", "ImportConflict", "ImportCounts", "ImportReport", "export_records", "import_records"]
