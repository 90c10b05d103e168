"""Spreading the work of a load or of a migration over worker processes of Ray Data."""

from kgagent.ray_workers.engine import RayEngine, RayWorkers

__all__ = ["RayEngine", "RayWorkers"]
