"""Exporting the records of users to a file, and importing them from it, exactly as they are stored."""

from kgagent.transfer.export import ExportReport, export_records

__all__ = ["ExportReport", "export_records"]
