"""Which names the arguments of a tool have, at any depth."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

Schema = Mapping[str, Any]


def names_at(arguments: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """The names of the fields of the object at a place.

    Args:
        arguments: all arguments.
        location: names of fields and places in lists that lead to the object, as pydantic's errors tell them: the name
            of the class is among them where it is one of several that may stand there.
    """
    schema = arguments.model_json_schema()
    definitions = schema.get("$defs", {})
    parts: list[Schema] = [schema]
    for step in location:
        if step in definitions:
            parts = [definitions[step]]
        elif following := [inner for part in parts for inner in _inside(part, step, definitions)]:
            parts = following
    return sorted(
        {name for part in parts for one in _alternatives(part, definitions) for name in one.get("properties", ())}
    )


def _inside(part: Schema, step: int | str, definitions: Schema) -> Iterator[Schema]:
    for one in _alternatives(part, definitions):
        if isinstance(step, int):
            if "items" in one:
                yield one["items"]
        elif (inner := one.get("properties", {}).get(to_snake(step))) is not None:
            yield inner


def _alternatives(part: Schema, definitions: Schema) -> Iterator[Schema]:
    """What may stand there, references followed."""
    if "$ref" in part:
        yield from _alternatives(definitions[part["$ref"].rpartition("/")[2]], definitions)
    elif "anyOf" in part:
        for one in part["anyOf"]:
            yield from _alternatives(one, definitions)
    else:
        yield part
