"""Loading, exporting and importing the records of users as files."""

from kgagent.files.export import export_records
from kgagent.files.import_records import import_records
from kgagent.files.load import load_files
from kgagent.files.reports import (
    ExportReport,
    ImportConflict,
    ImportCounts,
    ImportReport,
    LineProblem,
    LoadCounts,
    LoadReport,
)

__all__ = [
    "ExportReport",
    "ImportConflict",
    "ImportCounts",
    "ImportReport",
    "LineProblem",
    "LoadCounts",
    "LoadReport",
    "export_records",
    "import_records",
    "load_files",
]
