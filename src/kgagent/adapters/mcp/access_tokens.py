"""Bearer tokens and the users whom they authenticate."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from mcp.server.auth.provider import AccessToken
from pydantic import SecretStr

from kgagent.errors import ConfigurationError

MIN_TOKEN_LENGTH = 32
"""Minimum length of a token; `secrets.token_urlsafe(32)` makes 43 characters."""


class AccessTokens:
    """The access tokens of all users; a user may have several. Only their hashes are kept."""

    def __init__(self, user_of_token: Mapping[SecretStr, str]) -> None:
        """Check and store tokens.

        Args:
            user_of_token: user id by token.

        Raises:
            ConfigurationError: there is no token, a token is too short, or a user id is empty. The
                text gives the position of the token, never the token.
        """
        if not user_of_token:
            raise ConfigurationError("There are no tokens: give at least one, with its user")
        for position, (token, user_id) in enumerate(user_of_token.items(), 1):
            _check(position, token.get_secret_value(), user_id)
        self._user_of_hash = {
            _hash(token.get_secret_value()): user_id for token, user_id in user_of_token.items()
        }

    async def verify_token(self, token: str) -> AccessToken | None:
        """Authenticate a token for the SDK, which receives the user and not the token."""
        # Looking up a hash takes a time that says nothing about how much two tokens agree.
        user_id = self._user_of_hash.get(_hash(token))
        return (
            None
            if user_id is None
            else AccessToken(token="", client_id=user_id, subject=user_id, scopes=[])
        )

    def __repr__(self) -> str:
        """The number of tokens, but no token."""
        return f"<{len(self._user_of_hash)} tokens>"


def load_access_tokens(path: Path) -> AccessTokens:
    """Read a JSON file that maps each token to its user.

    Raises:
        ConfigurationError: the file cannot be read, or a token is invalid. The text contains no
            token.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"The token file {path} cannot be read: {type(error).__name__}"
        ) from error
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        # The decoder's error contains the whole text.
        decoded = None
    if not isinstance(decoded, dict) or not all(
        isinstance(user_id, str) for user_id in decoded.values()
    ):
        raise ConfigurationError(
            f'The token file {path} must be JSON like {{"<token>": "<user id>"}}'
        )
    return AccessTokens({SecretStr(token): user_id for token, user_id in decoded.items()})


def _check(position: int, token: str, user_id: str) -> None:
    if len(token) < MIN_TOKEN_LENGTH:
        raise ConfigurationError(
            f"Token {position} has {len(token)} characters and must have at least "
            f"{MIN_TOKEN_LENGTH}; "
            '`python -c "import secrets; print(secrets.token_urlsafe(32))"` makes one'
        )
    if not user_id.strip():
        raise ConfigurationError(f"Token {position} has no user: give a user id")


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
