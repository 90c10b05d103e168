"""Reads of several owners: what a user wrote, and what others let that user read.

The files of statements are written for one owner, `$user_id`. A read of several compares with
`$owners` instead, and gives each record that is not the user's its owner. What belongs to the user
alone, such as the node that "me" means, stays.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from kgagent.errors import InputError
from kgagent.graph.property_names import RECORD_OWNER
from kgagent.graph.statements import UNNAMED, Statement
from kgagent.validation import check_user_id

_SAME_OWNER = (
    r"(startNode(\1).user_id = endNode(\1).user_id "
    r"AND coalesce(\1.user_id, endNode(\1).user_id) = endNode(\1).user_id)"
)
_OWNER = {
    "n": "CASE WHEN n.user_id <> $user_id THEN n.user_id END",
    "r": "CASE WHEN startNode(r).user_id <> $user_id THEN startNode(r).user_id END",
}

_RULES = [
    # A relationship belongs to the owner of both of its nodes, which is compared with $owners.
    (r"coalesce\((\w+)\.user_id, \$user_id\) = \$user_id", _SAME_OWNER),
    (r"coalesce\((\w+)\.user_id, \$user_id\) <> \$user_id", f"NOT {_SAME_OWNER}"),
    (r"(coalesce\([\w()]+\.user_id, ''\)) <> \$user_id", r"NOT \1 IN $owners"),
    (r"\.user_id = \$user_id\b(?! AND \w+\.is_owner)", r".user_id IN $owners"),
    # The fragments that return records: `_found_…`, `_path_…`, `_node` and `_relationship`.
    *(
        rule
        for name, owner in _OWNER.items()
        for rule in (
            (
                rf"(\b{name}\[key\][^«]*? END(?:\]\))?\]\])",
                rf"\1 + [['{RECORD_OWNER}', {owner}]]",
            ),
            (rf"\b{name} {{\.\*,", f"{name} {{.*, {RECORD_OWNER}: {owner},"),
        )
    ),
]


def owners_of(user_id: str, readable: Sequence[str]) -> tuple[str, ...]:
    """The user, then the others whose records a call may read.

    Raises:
        InputError: an owner is no user id.
    """
    if isinstance(readable, str):
        raise InputError(f"readable must be a list of user ids, got {readable!r}")
    for owner in (user_id, *readable):
        check_user_id(owner)
    return (user_id, *sorted({*readable} - {user_id}))


@lru_cache(maxsize=512)
def over_owners(text: str) -> Statement:
    """A reading statement of one owner, for all of `$owners`."""
    name = text.name if isinstance(text, Statement) else UNNAMED
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    return Statement(text, name)
