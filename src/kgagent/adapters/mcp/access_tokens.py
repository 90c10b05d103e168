"""Bearer tokens and the users whom they authenticate."""

import hmac
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mcp.server.auth.provider import AccessToken
from pydantic import SecretStr

from kgagent.errors import ConfigurationError

MIN_TOKEN_LENGTH = 32
"""Minimum length of a token; `secrets.token_urlsafe(32)` makes 43 characters."""

TOKEN68 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=")
"""Characters that a token in an Authorization header may contain (RFC 6750)."""


PLACE_CLAIM = "kgagent_token"
"""Claim of an authenticated static token: its position among the tokens, which tells it from others of its user."""


class AccessTokens:
    """The access tokens of all users; a user may have several."""

    def __init__(self, user_of_token: Mapping[SecretStr, str]) -> None:
        """Check and store tokens.

        Args:
            user_of_token: user id by token.

        Raises:
            ConfigurationError: there is no token, a token is too short or contains invalid characters, or a user id is
                empty. The text gives the position of the token, never the token.
        """
        self._users = tuple((token, user_id) for token, user_id in user_of_token.items())
        if not self._users:
            raise ConfigurationError("There are no tokens: give at least one, with its user")
        for place, (token, user_id) in enumerate(self._users, 1):
            _check(place, token.get_secret_value(), user_id)

    def user_of(self, token: str) -> str | None:
        """The user of a token, or None for an unknown token."""
        found = self._find(token)
        return None if found is None else found[1]

    def _find(self, token: str) -> tuple[int, str] | None:
        """The position and the user of a token.

        The token is compared with every known one, in a time that does not depend on how much they agree.
        """
        found = None
        for place, (known, user_id) in enumerate(self._users, 1):
            if hmac.compare_digest(known.get_secret_value().encode(), token.encode()):
                found = place, user_id
        return found

    async def verify_token(self, token: str) -> AccessToken | None:
        """Authenticate a token for the SDK, which receives the user and not the token."""
        found = self._find(token)
        if found is None:
            return None
        place, user_id = found
        return AccessToken(token="", client_id=user_id, subject=user_id, scopes=[], claims={PLACE_CLAIM: place})

    def __repr__(self) -> str:
        """The number of tokens, but no token."""
        return f"<{len(self._users)} tokens>"


def load_access_tokens(path: Path) -> AccessTokens:
    """Read a JSON file that maps each token to its user.

    Raises:
        ConfigurationError: the file cannot be read, or a token is invalid. The text contains no token.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"The token file {path} cannot be read: {type(error).__name__}") from error
    try:
        decoded = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        # The decoder's error contains the whole text.
        decoded = None
    if not isinstance(decoded, dict) or not all(isinstance(user_id, str) for user_id in decoded.values()):
        raise ConfigurationError(f'The token file {path} must be JSON like {{"<token>": "<user id>"}}')
    return AccessTokens({SecretStr(token): user_id for token, user_id in decoded.items()})


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    given = list(pairs)
    if len({key for key, _ in given}) < len(given):
        raise ConfigurationError("A token occurs twice in the token file: each must have one user")
    return dict(given)


def _check(place: int, token: str, user_id: str) -> None:
    if len(token) < MIN_TOKEN_LENGTH:
        raise ConfigurationError(
            f"Token {place} has {len(token)} characters and must have at least {MIN_TOKEN_LENGTH}; "
            '`python -c "import secrets; print(secrets.token_urlsafe(32))"` makes one'
        )
    if not TOKEN68.issuperset(token):
        raise ConfigurationError(f"Token {place} may contain only letters, digits and -._~+/=")
    if not user_id.strip():
        raise ConfigurationError(f"Token {place} has no user: give a user id")
