"""Saying what is wrong with a graph, and how to mend it."""

from kgagent.doctor.diagnosis import Diagnosis, Facts, Finding, Severity
from kgagent.doctor.examine import examine

__all__ = ["Diagnosis", "Facts", "Finding", "Severity", "examine"]
