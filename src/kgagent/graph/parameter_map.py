"""Sends the parameters of a statement as one map, so that the server plans the statement once.

The server keeps a plan for each combination of the types of the parameters, including which are
null, and of the orders of magnitude of the lengths of texts and lists. A map is one type, whatever
it contains.
"""

import re
from functools import lru_cache

MAP = "p"
"""Name of the parameter that contains the others."""

PLAIN = "user_id"
"""The parameter outside the map: always a text, and compared with several properties in a
statement.

From `a.user_id = $p.user_id AND b.user_id = $p.user_id` the planner would infer `a.user_id =
b.user_id`, as if `$p` were a node, and scan where it could seek in an index.
"""

_TOKENS = re.compile(
    r"""
    '(?:[^'\\]|\\.)*+(?:'|\Z) | "(?:[^"\\]|\\.)*+(?:"|\Z)    # text
    | `(?:[^`]|``)*+(?:`|\Z)                                     # quoted name
    | //[^\r\n]*+ | /\*.*?(?:\*/|\Z)                             # comment
    | \$(?P<name>`(?:[^`]|``)++` | \w++)(?!\s*+\()  # parameter; `$any(…)` is a dynamic label
    """,
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def with_parameter_map(text: str, prefix: str = "") -> str:
    """Read each parameter of a statement but `$user_id` from the map: `$name` becomes `$p.name`.

    Args:
        text: Cypher.
        prefix: what to put before it, such as the language version.
    """
    return prefix + _TOKENS.sub(_from_map, text)


def _from_map(token: re.Match[str]) -> str:
    name = token["name"]
    if name is None or name == PLAIN:
        return token[0]
    return f"${MAP}.{f'`{name}`' if name[0].isdigit() else name}"
