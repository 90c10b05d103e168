"""The tests of kgagent."""

import os
import sys

# Workers and programs under test import the same modules: without cached bytecode each compiles all
# of them again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
