"""The values of a statement that is being made: each becomes a parameter."""

from typing import Any


class StatementParameters:
    """Collects parameters; `add` gives the text that stands for one in the statement."""

    def __init__(self, **known: Any) -> None:  # noqa: ANN401
        self._known = dict(known)

    def add(self, value: Any) -> str:  # noqa: ANN401
        """Make a value a parameter of its own."""
        name = f"p{len(self._known)}"
        self._known[name] = value
        return f"${name}"

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters."""
        return dict(self._known)
