"""Bearer tokens, and the user that each of them stands for."""

import hmac
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mcp.server.auth.provider import AccessToken
from pydantic import SecretStr

from kgagent.errors import ConfigurationError

MIN_TOKEN_LENGTH = 32
"""Characters of a token; `secrets.token_urlsafe(32)` makes 43."""

TOKEN68 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=")
"""What a token in an Authorization header may be made of (RFC 6750)."""


class Tokens:
    """The tokens of all users; a user may have several."""

    def __init__(self, user_of_token: Mapping[SecretStr, str]) -> None:
        """Take tokens.

        Args:
            user_of_token: the user that each token stands for.

        Raises:
            ConfigurationError: there is none, one is too short or cannot stand in a header, or a user id is empty. The
                text says which by its place and repeats no token.
        """
        self._users = tuple((token, user_id) for token, user_id in user_of_token.items())
        if not self._users:
            raise ConfigurationError("There is no token: give at least one, with its user")
        for place, (token, user_id) in enumerate(self._users, 1):
            _check(place, token.get_secret_value(), user_id)

    def user_of(self, token: str) -> str | None:
        """The user whom a token stands for, None where it stands for nobody.

        It is compared with every token, each in a time that does not depend on what they share.
        """
        found = None
        for known, user_id in self._users:
            if hmac.compare_digest(known.get_secret_value().encode(), token.encode()):
                found = user_id
        return found

    async def verify_token(self, token: str) -> AccessToken | None:
        """Answer the SDK's bearer authentication; what it keeps of the token is whose it is, not the token."""
        user_id = self.user_of(token)
        return None if user_id is None else AccessToken(token="", client_id=user_id, subject=user_id, scopes=[])

    def __repr__(self) -> str:
        """How many there are, and none of them."""
        return f"<{len(self._users)} tokens>"


def load_tokens(path: Path) -> Tokens:
    """Read a JSON file that maps each token to the user whom it stands for.

    Raises:
        ConfigurationError: it cannot be read, or its tokens cannot be used; the text repeats no token.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"The file of tokens {path} cannot be read: {type(error).__name__}") from error
    try:
        decoded = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        # The decoder's own error holds the whole text.
        decoded = None
    if not isinstance(decoded, dict) or not all(isinstance(user_id, str) for user_id in decoded.values()):
        raise ConfigurationError(f'The file of tokens {path} must be JSON like {{"<token>": "<user id>"}}')
    return Tokens({SecretStr(token): user_id for token, user_id in decoded.items()})


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    given = list(pairs)
    if len({key for key, _ in given}) < len(given):
        raise ConfigurationError("A token stands twice in the file of tokens: each must stand for one user")
    return dict(given)


def _check(place: int, token: str, user_id: str) -> None:
    if len(token) < MIN_TOKEN_LENGTH:
        raise ConfigurationError(
            f"Token {place} has {len(token)} characters and must have {MIN_TOKEN_LENGTH} at the least; "
            '`python -c "import secrets; print(secrets.token_urlsafe(32))"` makes one'
        )
    if not TOKEN68.issuperset(token):
        raise ConfigurationError(f"Token {place} may hold only letters, digits and -._~+/=")
    if not user_id.strip():
        raise ConfigurationError(f"Token {place} names no user: give a user id")
