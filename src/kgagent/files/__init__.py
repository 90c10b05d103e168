"""Loading, exporting and importing the records of users as JSON Lines files."""

from kgagent.files.export import ExportReport, export_records
from kgagent.files.import_records import import_records
from kgagent.files.import_report import ImportConflict, ImportCounts, ImportReport
from kgagent.files.load import load_file
from kgagent.files.load_report import LineProblem, LoadCounts, LoadReport

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
    "load_file",
]
