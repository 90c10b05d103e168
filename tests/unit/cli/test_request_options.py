"""Options that are fields of a request model."""

import typer.main
from typer.core import TyperGroup
from typer.testing import CliRunner

from kgagent.cli.app import app
from kgagent.cli.request_options import FILTERS, RequestCommand
from kgagent.models import ExploreRequest, HybridSearchRequest, SearchFilters


def commands() -> dict[str, RequestCommand]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return {name: one for name, one in group.commands.items() if isinstance(one, RequestCommand)}


def help_of(name: str, option: str) -> str:
    command = commands()[name]
    command.fill_in_help()
    [found] = [one for one in command.params if one.name == option]
    return str(getattr(found, "help", ""))


def test_help_is_the_description_of_the_field() -> None:
    description = HybridSearchRequest.model_fields["labels"].description
    assert description
    assert description in help_of("search", "label")


def test_every_filter_of_the_searches_is_an_option() -> None:
    assert {option.field for option in FILTERS} == SearchFilters.model_fields.keys()


def test_help_shows_default_and_bounds_of_the_field() -> None:
    default = ExploreRequest.model_fields["limit_per_label"].default
    assert f"[default: {default}; 1 to 100]" in help_of("explore", "limit")


def test_every_help_text_is_filled_in() -> None:
    for command in commands().values():
        command.fill_in_help()
        assert not [
            one.name for one in command.params if str(getattr(one, "help", "")).startswith("field:")
        ]


def test_a_value_out_of_range_names_the_field_and_its_bound() -> None:
    result = CliRunner().invoke(app, ["search", "x", "--expand-hops=9"])
    assert result.exit_code == 2
    assert "expand_hops must be at most 5, got 9" in " ".join(
        result.output.replace("│", " ").split()
    )


def test_a_word_that_is_no_choice_is_answered_without_the_words_of_the_validation_library() -> None:
    result = CliRunner().invoke(app, ["migrate", "--engine", "bach"])
    text = " ".join(result.output.replace("│", " ").split())
    assert (result.exit_code, "Value error" in text) == (2, False)
    assert "'bach' is not one of 'direct', 'ray'" in text
