"""Diagnosis of a graph: what is wrong with it, and how to fix it."""

from kgagent.doctor.diagnose import diagnose
from kgagent.doctor.diagnosis import Diagnosis, DiagnosisFacts, Finding, Severity

__all__ = ["Diagnosis", "DiagnosisFacts", "Finding", "Severity", "diagnose"]
