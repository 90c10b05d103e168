"""OAuth access tokens of an external authorization server, and the users whom they authenticate."""

import asyncio
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
from jwt import PyJWK, PyJWKClient, PyJWT, PyJWTError, get_unverified_header
from jwt.exceptions import InvalidTokenError, PyJWKClientConnectionError, PyJWKSetError
from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kgagent.adapters.mcp.access_tokens import AccessTokens
from kgagent.errors import ConfigurationError, InputError, KgAgentError
from kgagent.validation import check_user_id

ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
"""Signatures that only the holder of a private key can make."""

TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""What a token may call itself (RFC 9068); other JWTs of the same issuer, such as logout tokens,
grant nothing.
"""

LEEWAY = 30.0
"""Seconds by which the clocks of two machines may differ."""

TIMEOUT = 5.0
"""Seconds that the issuer may take to answer a request for its metadata or its keys."""

KEYS_LIFESPAN = 600.0
"""Seconds after which keys are fetched again, because the issuer may have withdrawn one."""

REFETCH_INTERVAL = 10.0
"""Seconds between two fetches, however many tokens name unknown keys."""

_THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")

_log = logging.getLogger(__name__)


class KeysUnavailableError(KgAgentError):
    """Internal: the keys of an authorization server cannot be fetched; clients get status 503."""


class KeysUnavailable:
    """ASGI middleware that answers 503 where a token cannot be verified because the issuer does not
    answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; tokens are verified before a response begins."""
        try:
            await self._app(scope, receive, send)
        except KeysUnavailableError as error:
            # The reason names addresses that concern nobody who is not let in.
            _log.info("An access token could not be verified: %s", error)
            reason = (
                "The access token cannot be verified now, because the keys of its issuer cannot be "
                "fetched"
            )
            refusal = JSONResponse(
                {"error": "temporarily_unavailable", "error_description": reason},
                status_code=503,
                headers={"Retry-After": str(round(REFETCH_INTERVAL))},
            )
            await refusal(scope, receive, send)


@dataclass(frozen=True, kw_only=True)
class OAuthOptions:
    """Whose tokens to accept, and which claim is the user.

    Attributes:
        issuer: URL of the authorization server, exactly as in the claim `iss` of its tokens.
        resource: URL under which clients reach this server; None is the address that it listens on.
            It is kept in the form in which clients use it: host in lower case or Punycode, without
            default port.
        audience: the claim `aud` of accepted tokens; None is the resource (RFC 8707).
        required_scopes: scopes that a token must have.
        user_claim: the claim that is the user whose graph a token opens.
        jwks_url: URL of the issuer's keys; None asks the issuer's metadata.
    """

    issuer: str
    resource: str | None = None
    audience: str | None = None
    required_scopes: tuple[str, ...] = ()
    user_claim: str = "sub"
    jwks_url: str | None = None

    def __post_init__(self) -> None:
        """Reject addresses whose answers others could replace."""
        for name, url in (("issuer", self.issuer), ("jwks_url", self.jwks_url)):
            if url is not None and not _is_protected(url):
                raise ConfigurationError(
                    f"{name} must be an https URL (http only on this machine) without user or "
                    f"fragment, got {url!r}"
                )
        if self.resource is not None:
            resource = _plain_url(self.resource)
            if resource is None:
                raise ConfigurationError(
                    f"resource must be the http(s) URL of this server, got {self.resource!r}"
                )
            object.__setattr__(self, "resource", str(resource))


class OAuthTokens:
    """Verifies access tokens that are JWTs signed by the issuer, or static ones."""

    def __init__(self, options: OAuthOptions, url: str, static: AccessTokens | None = None) -> None:
        """Prepare; keys are fetched with the first token.

        Args:
            options: whose tokens to accept.
            url: URL that the server listens on.
            static: tokens that are accepted too, with all required scopes.
        """
        self._static = static
        self._options = options
        self.resource = options.resource or url
        bare = self.resource.removesuffix("/")
        self._audiences = [options.audience] if options.audience is not None else [bare, f"{bare}/"]
        self._jwt = PyJWT({"enforce_minimum_key_length": True})
        self._keys: PyJWKClient | None = None
        self._failed_at = -math.inf
        self._fetching = asyncio.Lock()

    @property
    def settings(self) -> AuthSettings:
        """What the SDK publishes about this server, and demands of a request."""
        # Validated from text, a URL without a path stays without: clients compare the issuer as a
        # text.
        return AuthSettings.model_validate(
            {
                "issuer_url": self._options.issuer,
                "resource_server_url": self.resource,
                "required_scopes": list(self._options.required_scopes) or None,
                "validate_token_resource": False,
            }
        )

    async def verify_token(self, token: str) -> AccessToken | None:
        """Authenticate a token for the SDK, which receives the user and not the token.

        Raises:
            KeysUnavailableError: the key of the token is unknown and the issuer's keys cannot be
                fetched.
        """
        if (
            self._static is not None
            and (known := await self._static.verify_token(token)) is not None
        ):
            return known.model_copy(update={"scopes": list(self._options.required_scopes)})
        try:
            return self._access(await self._claims(token))
        except (
            PyJWTError,
            InputError,
            ValueError,
            TypeError,
            LookupError,
            ArithmeticError,
            RecursionError,
        ) as error:
            # The text of an error may quote the token.
            _log.info("An access token was refused: %s", type(error).__name__)
            return None

    async def _claims(self, token: str) -> Mapping[str, Any]:
        """The claims of a valid token."""
        header = get_unverified_header(token)
        if (
            header.get("alg") not in ALGORITHMS
            or str(header.get("typ", "JWT")).lower() not in TYPES
        ):
            raise ValueError
        return self._jwt.decode(
            token,
            await self._key(header.get("kid")),
            algorithms=ALGORITHMS,
            audience=self._audiences,
            issuer=self._options.issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iss", "aud", self._options.user_claim]},
        )

    def _access(self, claims: Mapping[str, Any]) -> AccessToken:
        user_id = claims[self._options.user_claim]
        if not isinstance(user_id, str):
            raise TypeError
        check_user_id(user_id)
        client = claims.get("client_id", claims.get("azp"))
        return AccessToken(
            token="",
            client_id=client if isinstance(client, str) else user_id,
            subject=user_id,
            scopes=[*_scopes(claims.get("scope")), *_scopes(claims.get("scp"))],
            claims={"iss": self._options.issuer},
        )

    async def _key(self, key_id: str | None) -> PyJWK:
        """A key of the issuer, or its only one for a token that names none; one that is cached
        waits for no fetch.

        Raises:
            PyJWTError: the issuer has no such key.
            KeysUnavailableError: the keys cannot be fetched, now or at the last attempt, a few
                seconds ago.
        """
        if (known := self._cached(key_id)) is not None:
            return known
        async with self._fetching:
            if (known := self._cached(key_id)) is not None:
                return known
            if time.monotonic() - self._failed_at < REFETCH_INTERVAL:
                raise KeysUnavailableError("the last attempt to fetch the issuer's keys failed")
            try:
                if self._keys is None:
                    self._keys = await self._open_keys()
                if key_id is not None:
                    return await asyncio.to_thread(self._keys.get_signing_key, key_id)
                await asyncio.to_thread(self._keys.get_jwk_set)
            except (
                PyJWKClientConnectionError,
                PyJWKSetError,
                httpx2.HTTPError,
                ValueError,
            ) as error:
                self._failed_at = time.monotonic()
                _log.warning("The keys of %s cannot be fetched: %s", self._options.issuer, error)
                raise KeysUnavailableError(
                    f"The keys of {self._options.issuer} cannot be fetched"
                ) from error
            if (only := self._cached(key_id)) is None:
                raise InvalidTokenError("the issuer has several keys, and the token names none")
            return only

    def _cached(self, key_id: str | None) -> PyJWK | None:
        cache = None if self._keys is None else self._keys.jwk_set_cache
        keys = None if cache is None else cache.get()
        if keys is None:
            return None
        usable = [
            key
            for key in keys.keys
            if key.public_key_use in ("sig", None) and key.key_type != "oct"
        ]
        if key_id is None:
            return usable[0] if len(usable) == 1 else None
        return PyJWKClient.match_kid(usable, key_id)

    async def _open_keys(self) -> PyJWKClient:
        return PyJWKClient(
            self._options.jwks_url or await self._keys_url_of_metadata(),
            lifespan=KEYS_LIFESPAN,
            timeout=TIMEOUT,
            ssl_context=httpx2.create_ssl_context(),
            cooldown_duration=REFETCH_INTERVAL,
        )

    async def _keys_url_of_metadata(self) -> str:
        """The URL of the keys in the first metadata of the issuer that names one (RFC 8414 or
        OpenID Connect).
        """
        issuer = self._options.issuer
        async with httpx2.AsyncClient(timeout=TIMEOUT) as http:
            for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer):
                answer = await http.get(url, headers={"Accept": "application/json"})
                metadata = answer.json() if answer.is_success else None
                if isinstance(metadata, dict) and metadata.get("issuer") == issuer:
                    found = metadata.get("jwks_uri")
                    if isinstance(found, str) and _is_protected(found):
                        return found
        raise ValueError("its metadata names no https URL as jwks_uri")


_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
"""URLs in the form in which the SDK publishes them."""


def _plain_url(url: str) -> AnyHttpUrl | None:
    """An http(s) URL without user or fragment; None if it is none."""
    try:
        parsed = _URL.validate_python(url)
    except ValueError:
        return None
    return None if parsed.username or parsed.password or parsed.fragment else parsed


def _is_protected(url: str) -> bool:
    """Whether nobody between can replace what a URL answers: HTTPS, or this machine."""
    parsed = _plain_url(url)
    return parsed is not None and (parsed.scheme == "https" or parsed.host in _THIS_MACHINE)


def _scopes(value: object) -> Sequence[str]:
    """Scopes as RFC 9068 writes them, in one text, or as a list, which some servers write."""
    if isinstance(value, str):
        return value.split()
    return [scope for scope in value if isinstance(scope, str)] if isinstance(value, list) else []
