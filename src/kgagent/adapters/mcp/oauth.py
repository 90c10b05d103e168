"""OAuth access tokens of an external authorization server, and the users whom they authenticate."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jwt import PyJWT, PyJWTError, get_unverified_header
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter

from kgagent.adapters.mcp.issuer_keys import fetch_keys, is_protected
from kgagent.adapters.mcp.signing_keys import REFETCH_INTERVAL, SigningKeys
from kgagent.errors import ConfigurationError
from kgagent.formatting import has_unpaired_surrogates

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that only the holder of a private key can make."""

TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""What a token may call itself (RFC 9068); other JWTs of the same issuer, such as logout tokens, grant nothing."""

MAX_LENGTH = 16_384
"""Characters of a token."""

LEEWAY = 30.0
"""Seconds by which the clocks of two machines may differ."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class OAuthOptions:
    """Whose tokens to accept, and which claim is the user.

    Attributes:
        issuer: URL of the authorization server, exactly as in the claim `iss` of its tokens.
        resource: URL under which clients reach this server; None is the address that it listens on. It is kept in the
            form in which clients use it: host in lower case or Punycode, without default port.
        audience: the claim `aud` of accepted tokens; None is the resource (RFC 8707).
        required_scopes: scopes that a token must have.
        user_claim: the claim that is the user whose graph a token opens.
        jwks_url: URL of the issuer's keys; None asks the issuer's metadata.
        refetch_interval: seconds between two fetches of keys.
    """

    issuer: str
    resource: str | None = None
    audience: str | None = None
    required_scopes: tuple[str, ...] = ()
    user_claim: str = "sub"
    jwks_url: str | None = None
    refetch_interval: float = REFETCH_INTERVAL

    def __post_init__(self) -> None:
        """Reject addresses whose answers others could replace, and empty names."""
        for name, url in (("issuer", self.issuer), ("jwks_url", self.jwks_url)):
            if url is not None and not (is_protected(url) and _is_plain(url)):
                raise ConfigurationError(
                    f"{name} must be an https URL (http only on this machine) without user or fragment, got {url!r}"
                )
        if self.resource is not None:
            if not _is_plain(self.resource):
                raise ConfigurationError(f"resource must be the http(s) URL of this server, got {self.resource!r}")
            object.__setattr__(self, "resource", str(_URL.validate_python(self.resource)))
        for name, text in (("audience", self.audience), ("user_claim", self.user_claim)):
            if text is not None and not text.strip():
                raise ConfigurationError(f"{name} must not be empty")
        for scope in self.required_scopes:
            if not scope or not scope.isascii() or not scope.isprintable() or set(scope) & set(' "\\'):
                raise ConfigurationError(f"A scope is one word without quotes or backslashes, got {scope!r}")


class OAuthTokens:
    """Verifies access tokens that are JWTs signed by the issuer."""

    def __init__(self, options: OAuthOptions, url: str) -> None:
        """Prepare; keys are fetched with the first token.

        Args:
            options: whose tokens to accept.
            url: URL that the server listens on.
        """
        self._options = options
        self.resource = options.resource or url
        bare = self.resource.removesuffix("/")
        self._audiences = [options.audience] if options.audience is not None else [bare, f"{bare}/"]
        self._jwt = PyJWT({"enforce_minimum_key_length": True})
        self._keys = SigningKeys(
            lambda: fetch_keys(options.issuer, options.jwks_url), refetch_interval=options.refetch_interval
        )

    @property
    def settings(self) -> AuthSettings:
        """What the SDK publishes about this server, and demands of a request."""
        # Validated from text, a URL without a path stays without: clients compare the issuer as a text.
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
            KeysUnavailableError: the key of the token is unknown and the issuer's keys cannot be fetched.
        """
        try:
            claims = await self._claims(token)
            return None if claims is None else self._access(claims)
        except (PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
            # The text of an error may quote the token.
            _log.info("An access token was refused: %s", type(error).__name__)
            return None

    async def _claims(self, token: str) -> Mapping[str, Any] | None:
        """The claims of a valid token; None if its key is not one of the issuer's."""
        if len(token) > MAX_LENGTH:
            raise ValueError
        header = get_unverified_header(token)
        if header.get("alg") not in ALGORITHMS or str(header.get("typ", "JWT")).lower() not in TYPES:
            raise ValueError
        key = await self._keys.find(header.get("kid"), header["alg"])
        if key is None:
            _log.info("An access token was refused: the issuer has no such key")
            return None
        return self._jwt.decode(
            token,
            key,
            algorithms=ALGORITHMS,
            audience=self._audiences,
            issuer=self._options.issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iss", "aud", self._options.user_claim]},
        )

    def _access(self, claims: Mapping[str, Any]) -> AccessToken:
        user_id = claims[self._options.user_claim]
        if not isinstance(user_id, str) or not user_id.strip() or has_unpaired_surrogates(user_id):
            raise ValueError
        client = claims.get("client_id", claims.get("azp"))
        return AccessToken(
            token="",
            client_id=client if isinstance(client, str) else user_id,
            subject=user_id,
            scopes=[*_scopes(claims.get("scope")), *_scopes(claims.get("scp"))],
            claims={"iss": self._options.issuer},
        )


_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
"""URLs in the form in which the SDK publishes them."""


def _scopes(value: object) -> Sequence[str]:
    """Scopes as RFC 9068 writes them, in one text, or as a list, which some servers write."""
    if isinstance(value, str):
        return value.split()
    return [scope for scope in value if isinstance(scope, str)] if isinstance(value, list) else []


def _is_plain(url: str) -> bool:
    """Whether it is an http(s) URL without user or fragment."""
    try:
        _URL.validate_python(url)
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and "@" not in parts.netloc and not parts.fragment
