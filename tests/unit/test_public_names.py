"""What `import kgagent` offers."""

import subprocess
import sys

import kgagent

HEAVY = ("neo4j", "openai", "onnxruntime", "langchain_core", "pydantic")


def test_every_public_name_can_be_imported() -> None:
    for name in kgagent.__all__:
        assert getattr(kgagent, name) is not None


def test_public_names_are_sorted_and_listed() -> None:
    assert kgagent.__all__ == sorted(kgagent.__all__)
    assert dir(kgagent) == kgagent.__all__


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import kgagent, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(kgagent, "no_such_name")
