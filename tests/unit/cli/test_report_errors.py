import pytest
import typer

from kgagent.cli.app import report_errors
from kgagent.errors import InputError, ServerStartError


def test_an_error_is_one_line_on_stderr_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise InputError("attitude must be 1 to 5,\n   got [7]")

    with pytest.raises(typer.Exit) as left:
        report_errors(command)()
    captured = capsys.readouterr()
    assert left.value.exit_code == 1
    assert (captured.out, captured.err) == ("", "attitude must be 1 to 5, got [7]\n")


def test_the_local_servers_log_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise ServerStartError("It did not come up:\nlog line")

    with pytest.raises(typer.Exit):
        report_errors(command)()
    assert capsys.readouterr().err == "It did not come up:\nlog line\n"
