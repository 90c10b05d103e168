"""The corrected form of a pattern query that was refused, to show to a model."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import AliasChoices, BaseModel, JsonValue, ValidationError

from kgagent.errors import InputError
from kgagent.models.pattern_query import GraphQuery
from kgagent.patterns.names import FREE_TYPE, UnknownName
from kgagent.suggestions import closest_names
from kgagent.validation import check_size, models_of_fields

MAX_LENGTH = 1_200
"""Characters of a corrected query; a longer one would displace the error."""

MAX_DEPTH = 20

_OF_THE_ANSWER = {"format", "cursor"}
"""Arguments that say how to answer; a cursor belongs to the query that was refused."""


def with_renamed_fields(given: Mapping[str, Any], model: type[GraphQuery]) -> str:
    """The arguments with misspelled field names replaced by those that were meant, if they are valid then.

    Args:
        given: arguments that were refused.
        model: what they should be.

    Returns:
        A sentence with the corrected arguments; empty if they cannot be corrected.
    """
    try:
        check_size(given, max_values=MAX_LENGTH // 4, noun="A query to correct")
    except InputError:
        return ""
    renamed = _renamed(given, (model,))
    try:
        model.model_validate(renamed)
    except (ValidationError, RecursionError):
        return ""
    return _shown(renamed)


def _renamed(value: Any, models: tuple[type[BaseModel], ...], depth: int = 0) -> Any:  # noqa: ANN401
    """A value in which each object has only fields that one of the models accepts, as far as they are similar."""
    if isinstance(value, list) and depth < MAX_DEPTH:
        return [_renamed(item, models, depth + 1) for item in value]
    if not isinstance(value, Mapping) or not models or depth >= MAX_DEPTH:
        return value
    accepted = {alias: name for model in models for name, aliases in _aliases(model) for alias in aliases}
    own = {name for model in models for name in model.model_fields}
    inner = {name: found for model in models for name, found in models_of_fields(model).items()}
    renamed: dict[str, Any] = {}
    for key, item in value.items():
        name = key if key in accepted else _closest(str(key), own - value.keys(), accepted.keys() - value.keys())
        renamed[name] = _renamed(item, tuple(inner.get(accepted.get(name, ""), ())), depth + 1)
    return renamed


def _closest(name: str, *known: Collection[str]) -> str:
    """The most similar of the first known names that are similar at all; the name itself if none are."""
    return next((close[0] for names in known if (close := closest_names(name, names))), name)


def _aliases(model: type[BaseModel]) -> Iterable[tuple[str, list[str]]]:
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        choices = [str(one) for one in alias.choices] if isinstance(alias, AliasChoices) else []
        yield name, [name, *choices]


def with_existing_names(query: GraphQuery, unknown: Iterable[UnknownName]) -> str:
    """The query with unknown labels, types and properties replaced by the closest that exist.

    A word that is used as a Neo4j type becomes a constraint on the property that holds it, and a constraint on a
    property of relationships is one on relationships.

    Args:
        query: the query.
        unknown: the names in its patterns that do not exist.

    Returns:
        A sentence with the corrected query; empty if a name has no replacement.
    """
    names: dict[tuple[str, str], str] = {}
    words: dict[str, str] = {}
    misplaced: set[str] = set()
    for problem in unknown:
        close = closest_names(problem.name, problem.existing)
        if problem.is_misplaced:
            misplaced.add(problem.name)
        elif problem.word is not None:
            words[problem.name] = problem.word
        elif close:
            names[problem.kind, problem.name] = close[0]
        else:
            return ""
    dumped = query.model_dump(mode="json", exclude=_OF_THE_ANSWER, exclude_defaults=True)
    corrected = _Replacement(names, words, misplaced).of(dumped)
    return _shown(corrected) if dumped and (names or words or misplaced) else ""


class _Replacement:
    """Replaces names in the JSON form of patterns."""

    def __init__(
        self, names: Mapping[tuple[str, str], str], words: Mapping[str, str], misplaced: Collection[str]
    ) -> None:
        self._names = names
        self._words = words
        self._misplaced = misplaced

    def of(self, value: JsonValue) -> JsonValue:
        """The value with names that exist."""
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if not isinstance(value, dict):
            return value
        replaced = {
            key: self._name(key, item) if isinstance(item, str) else self.of(item) for key, item in value.items()
        }
        if replaced.get("property_path") in self._misplaced and "value_from" not in replaced:
            replaced.pop("node_label", None)
            first = {"at_step": 0} if replaced.get("at_step") == "start" else {}
            replaced |= {"on": "relationship", **first}
        steps = replaced.get("steps")
        return self._with_words(replaced, steps) if isinstance(steps, list) else replaced

    def _name(self, key: str, name: str) -> str:
        if key.endswith("_label"):
            return self._names.get(("label", name), name)
        if key == "relation_type":
            return self._names.get(("relationship type", name), name)
        if key == "property_path":
            first, dot, rest = name.partition(".")
            return self._names.get(("property", first), first) + dot + rest
        return name

    def _with_words(self, pattern: dict[str, JsonValue], steps: list[JsonValue]) -> dict[str, JsonValue]:
        """A pattern or branch in which words are constraints instead of types."""
        constraints = pattern.get("constraints")
        added = list(constraints) if isinstance(constraints, list) else []
        kept: list[JsonValue] = []
        for position, step in enumerate(steps):
            name = step.get("relation_type") if isinstance(step, dict) else None
            word = self._words.get(name) if isinstance(name, str) else None
            if not isinstance(step, dict) or word is None:
                kept.append(step)
                continue
            kept.append({key: item for key, item in step.items() if key != "relation_type"})
            added.append(
                {
                    "type": "PROPERTY_EQUALS",
                    "on": "relationship",
                    "property_path": FREE_TYPE,
                    "value": word,
                    "at_step": position,
                }
            )
        return {**pattern, "steps": kept, **({"constraints": added} if added else {})}


def _shown(arguments: object) -> str:
    text = json.dumps(arguments, ensure_ascii=False, default=str)
    return f" Corrected: {text}" if len(text) <= MAX_LENGTH else ""
