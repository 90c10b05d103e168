"""Forgetting: deleting all data of a user, a source or a node, irreversibly."""

from kgagent.forgetting.forget import forget
from kgagent.forgetting.report import ForgetReport

__all__ = ["ForgetReport", "forget"]
