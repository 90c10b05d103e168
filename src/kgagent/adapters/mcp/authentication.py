"""Authentication over HTTP: static tokens, OAuth tokens, or both."""

import logging
from collections.abc import Sequence

from mcp.server.auth.provider import AccessToken
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kgagent.adapters.mcp.access_tokens import AccessTokens
from kgagent.adapters.mcp.oauth import REFETCH_INTERVAL, KeysUnavailableError, OAuthTokens

_UNAVAILABLE = {
    "error": "temporarily_unavailable",
    "error_description": "The access token cannot be verified now, because the keys of its issuer cannot be fetched",
}

_log = logging.getLogger(__name__)


class Authentication:
    """Finds the user of a token, among the static ones first."""

    def __init__(self, tokens: AccessTokens | None, oauth: OAuthTokens | None, scopes: Sequence[str] = ()) -> None:
        """Prepare.

        Args:
            tokens: static tokens.
            oauth: tokens of an authorization server.
            scopes: scopes of each static token.
        """
        self._tokens = tokens
        self._oauth = oauth
        self._scopes = list(scopes)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Authenticate a token for the SDK."""
        access = None if self._tokens is None else await self._tokens.verify_token(token)
        if access is not None:
            return access.model_copy(update={"scopes": self._scopes})
        return None if self._oauth is None else await self._oauth.verify_token(token)


class KeysUnavailable:
    """ASGI middleware that answers 503 where a token cannot be verified because the issuer does not answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; tokens are verified before a response begins."""
        try:
            await self._app(scope, receive, send)
        except KeysUnavailableError as error:
            # The reason names addresses that concern nobody who is not let in.
            _log.info("An access token could not be verified: %s", error)
            headers = {"Retry-After": str(round(REFETCH_INTERVAL))}
            refusal = JSONResponse(_UNAVAILABLE, status_code=503, headers=headers)
            await refusal(scope, receive, send)
