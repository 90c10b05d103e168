"""Says which other tool has an argument that a tool does not have."""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from kgagent.validation import accepted_names

MAX_TOOLS = 3
"""Tools that are named for one argument."""

MAX_ARGUMENTS = 3
"""Unknown arguments that are explained."""


def other_tools_with(given: Iterable[str], arguments: type[BaseModel], tools: Mapping[str, type[BaseModel]]) -> str:
    """Name the tools that have the arguments which a tool does not know.

    Args:
        given: names of the arguments that were given.
        arguments: the arguments of the tool.
        tools: the arguments of each tool that could be called instead.

    Returns:
        Such as "update_node takes notes"; empty if no tool has such an argument.
    """
    known = accepted_names(arguments)
    return "; ".join(list(_explained((name for name in given if name not in known), tools))[:MAX_ARGUMENTS])


def _explained(unknown: Iterable[str], tools: Mapping[str, type[BaseModel]]) -> Iterable[str]:
    for name in unknown:
        having = [tool for tool, arguments in tools.items() if name in arguments.model_fields][:MAX_TOOLS]
        if having:
            *first, last = having
            yield f"{', '.join(first)} and {last} take {name}" if first else f"{last} takes {name}"
