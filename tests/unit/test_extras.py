import importlib
from importlib.metadata import metadata

import pytest

from kgagent.errors import ConfigurationError
from kgagent.extras import install_command, require_extra


def test_a_missing_package_becomes_advice() -> None:
    with pytest.raises(ConfigurationError) as raised, require_extra("ingest"):
        importlib.import_module("a_missing_package.of_langchain")
    assert (
        str(raised.value)
        == 'kgagent ingest needs the package a_missing_package: pip install "kgagent[ingest]"'
    )


def test_an_incompatible_version_is_named_with_the_error() -> None:
    with (
        pytest.raises(
            ConfigurationError, match=r"package mcp in another version \(cannot import name"
        ),
        require_extra("mcp"),
    ):
        exec("from mcp import a_name_of_a_later_version")


def test_an_error_in_kgagent_itself_is_not_taken_for_a_missing_package() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"kgagent\.nowhere"), require_extra("local"):
        importlib.import_module("kgagent.nowhere")


def test_the_command_names_extras_that_the_package_declares() -> None:
    declared = metadata("kgagent").get_all("Provides-Extra") or []
    assert {"ingest", "local", "mcp", "otel", "ray"} <= set(declared)
    assert install_command("mcp", "local") == 'pip install "kgagent[mcp,local]"'
