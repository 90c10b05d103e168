"""Says which other tool has an argument that a tool does not have."""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ValidationError

MAX_TOOLS = 3
"""Tools that are named for one argument."""

MAX_ARGUMENTS = 3
"""Unknown arguments that are explained."""


def other_tools_with(
    error: ValidationError,
    given: Iterable[str],
    arguments: type[BaseModel],
    tools: Mapping[str, type[BaseModel]],
) -> str:
    """Name the tools that have the arguments which a tool does not know.

    Args:
        error: why the arguments are invalid.
        given: names of the arguments that were given.
        arguments: the arguments of the tool.
        tools: the arguments of each tool that could be called instead.

    Returns:
        Such as "update_node takes notes"; empty if no tool has such an argument.
    """
    if arguments.model_fields.keys() >= set(given):
        # Reading an error with hundreds of thousands of wrong values takes as long as explaining it.
        return ""
    places = (item["loc"] for item in error.errors(include_url=False) if item["type"] == "extra_forbidden")
    unknown = list(dict.fromkeys(str(place[0]) for place in places if len(place) == 1))
    return "; ".join(list(_explained(unknown, tools))[:MAX_ARGUMENTS])


def _explained(unknown: Iterable[str], tools: Mapping[str, type[BaseModel]]) -> Iterable[str]:
    for name in unknown:
        having = [tool for tool, arguments in tools.items() if name in arguments.model_fields][:MAX_TOOLS]
        if having:
            *first, last = having
            yield f"{', '.join(first)} and {last} take {name}" if first else f"{last} takes {name}"
