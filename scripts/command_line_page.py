"""Write the commands in docs/command-line.md from the help texts of the command line.

python scripts/command_line_page.py            writes the page
python scripts/command_line_page.py --check    fails if the page is out of date
"""

import sys

import typer.main
from _generated import cell, update_page
from rich.text import Text
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from kgagent.cli.app import app
from kgagent.cli.request_options import RequestCommand

HEAD = "\n| argument or option | meaning |\n| --- | --- |\n"


def main() -> int:
    """Write the page or check it."""
    program = typer.main.get_command(app)
    if not isinstance(program, TyperGroup):
        raise TypeError(f"kgagent has no commands: {program}")
    sections = [
        _section(name, one)
        for name, one in program.commands.items()
        if isinstance(one, TyperCommand)
    ]
    return update_page("command-line.md", "\n".join(sections), "command_line_page.py")


def _section(name: str, command: TyperCommand) -> str:
    """The section of one command: usage, description, arguments and options."""
    if isinstance(command, RequestCommand):
        command.fill_in_help()
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    options = [one for one in command.params if isinstance(one, TyperOption) and not one.hidden]
    call = " ".join(["kgagent", name, *(_argument_name(one) for one in arguments), "[options]"])
    rows = [
        f"| {cell(f'`{_argument_name(one)}`')} | {cell(_plain(one.help))} |\n" for one in arguments
    ]
    rows += [f"| {cell(_option_names(one))} | {cell(_meaning(one))} |\n" for one in options]
    return f"## {name}\n\n```text\n{call}\n```\n\n{_paragraphs(_plain(command.help))}\n{HEAD}{''.join(rows)}"


def _argument_name(argument: TyperArgument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _option_names(option: TyperOption) -> str:
    """The names of an option and its value."""
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return names if option.is_flag else f"{names} `{option.metavar or (option.name or '').upper()}`"


def _meaning(option: TyperOption) -> str:
    facts = [_plain(option.help)]
    if option.min is not None or option.max is not None:
        facts.append(
            f"From {option.min} to {option.max}."
            if option.max is not None
            else f"From {option.min}."
        )
    if option.default is not None and not isinstance(option.default, bool):
        facts.append(f"Default: `{option.default}`.")
    return " ".join(facts)


def _plain(text: str | None) -> str:
    """A help text without Rich markup."""
    return Text.from_markup(text or "").plain.replace("<", "&lt;")


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


if __name__ == "__main__":
    sys.exit(main())
