import pytest
import typer

from kgagent.cli.plain_errors import plain_errors
from kgagent.errors import InputError, ServerStartError


def test_an_error_is_one_line_on_stderr_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise InputError("attitude must be 1 to 5,\n   got [7]")

    with pytest.raises(typer.Exit) as left:
        plain_errors(command)()
    captured = capsys.readouterr()
    assert left.value.exit_code == 1
    assert (captured.out, captured.err) == ("", "attitude must be 1 to 5, got [7]\n")


def test_the_local_servers_log_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise ServerStartError("It did not come up:\nlog line")

    with pytest.raises(typer.Exit):
        plain_errors(command)()
    assert capsys.readouterr().err == "It did not come up:\nlog line\n"


def test_a_fault_of_the_program_keeps_its_trace() -> None:
    def command() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        plain_errors(command)()
