"""Options of an authorization server, its metadata, and its keys over time."""

import json
import time
import warnings
from collections.abc import Iterator

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm

from kgagent.adapters.mcp import OAuthOptions
from kgagent.adapters.mcp.oauth import (
    KEYS_LIFESPAN,
    REFETCH_INTERVAL,
    KeysUnavailableError,
    OAuthTokens,
)
from kgagent.errors import ConfigurationError
from tests.support.authorization_server import AuthorizationServer, Key, authorization_server


@pytest.fixture
def issuer() -> Iterator[AuthorizationServer]:
    with authorization_server() as running:
        yield running


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"issuer": "http://id.example"}, "issuer must be an https URL"),
        ({"issuer": "https://user:secret@id.example"}, "without user or fragment"),
        ({"jwks_url": "http://id.example/keys"}, "jwks_url must be an https URL"),
        ({"resource": "graph.example/mcp"}, "resource must be the http"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        OAuthOptions(**{"issuer": "https://id.example"} | options)  # type: ignore[arg-type]
    assert OAuthOptions(issuer="http://[::1]:1").issuer == "http://[::1]:1"


@pytest.mark.parametrize(
    ("given", "published"),
    [
        ("https://Graph.Example:443/mcp", "https://graph.example/mcp"),
        ("http://bücher.example:8080", "http://xn--bcher-kva.example:8080"),
    ],
)
def test_the_resource_is_kept_as_it_is_published(given: str, published: str) -> None:
    options = OAuthOptions(issuer="https://id.example", resource=given)
    assert options.resource == published
    assert str(OAuthTokens(options, "").settings.resource_server_url) == published


RESOURCE = "https://graph.example/mcp"


def tokens_of(issuer: AuthorizationServer, **options: str) -> OAuthTokens:
    return OAuthTokens(OAuthOptions(issuer=issuer.issuer, resource=RESOURCE, **options), "")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://other.example"},
        {"jwks_uri": None},
        {"jwks_uri": "http://id.example/keys"},
    ],
)
async def test_metadata_that_leads_elsewhere_is_refused(
    issuer: AuthorizationServer, change: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    issuer.changes = change
    with pytest.raises(KeysUnavailableError):
        await tokens_of(issuer).verify_token(issuer.token(RESOURCE))
    assert "names no https URL as jwks_uri" in caplog.text


async def test_after_metadata_that_leads_elsewhere_the_next_is_asked(
    issuer: AuthorizationServer,
) -> None:
    other = json.dumps(issuer.metadata() | {"issuer": "https://other.example"})
    oauth = issuer.http.expect_request("/.well-known/oauth-authorization-server")
    oauth.respond_with_data(other, content_type="application/json")
    issuer.metadata_path = "/.well-known/openid-configuration"
    assert await tokens_of(issuer).verify_token(issuer.token(RESOURCE)) is not None


async def test_encryption_keys_and_unknown_kinds_are_left_out(issuer: AuthorizationServer) -> None:
    good, encrypting = issuer.keys[0], Key()
    binary = {"kty": "EC", "crv": "P-256", "x": 1, "y": 2, "kid": "two"}
    issuer.jwks = {"keys": [encrypting.jwk | {"use": "enc"}, {"kty": "unknown"}, binary, good.jwk]}
    tokens = tokens_of(issuer)
    assert await tokens.verify_token(issuer.token(RESOURCE)) is not None
    assert await tokens.verify_token(issuer.token(RESOURCE, key=encrypting)) is None


async def user_of(
    issuer: AuthorizationServer,
    private: RSAPrivateKey | Ed25519PrivateKey,
    algorithm: str,
    *,
    kid: str | None = "one",
    **fields: str,
) -> str | None:
    """The user of a token that a key has signed; the published key names no algorithm, unless
    `fields` do.
    """
    if isinstance(private, RSAPrivateKey):
        public = RSAAlgorithm.to_jwk(private.public_key())
    else:
        public = OKPAlgorithm.to_jwk(private.public_key())
    issuer.jwks = {"keys": [json.loads(public) | {"kid": "one"} | fields]}
    claims = {"iss": issuer.issuer, "aud": RESOURCE, "sub": "ada", "exp": int(time.time()) + 60}
    token = jwt.encode(claims, private, algorithm, headers=None if kid is None else {"kid": kid})
    access = await tokens_of(issuer).verify_token(token)
    return None if access is None else access.subject


async def test_rsa_and_ed25519_are_accepted_unless_the_key_is_short(
    issuer: AuthorizationServer,
) -> None:
    private = rsa.generate_private_key(65537, 2048)
    assert await user_of(issuer, private, "RS256") == "ada"
    assert await user_of(issuer, private, "PS256", alg="PS256") == "ada"
    assert await user_of(issuer, private, "RS512", alg="RS512") == "ada"
    assert await user_of(issuer, private, "RS256", alg="PS256") is None
    assert await user_of(issuer, private, "RS256", kid=None) == "ada"
    assert await user_of(issuer, Ed25519PrivateKey.generate(), "EdDSA") == "ada"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jwt.InsecureKeyLengthWarning)
        assert await user_of(issuer, rsa.generate_private_key(65537, 1024), "RS256") is None


async def test_a_token_that_names_no_key_is_refused_if_there_are_several(
    issuer: AuthorizationServer,
) -> None:
    claims = {"iss": issuer.issuer, "aud": RESOURCE, "sub": "ada", "exp": int(time.time()) + 60}
    token = jwt.encode(claims, issuer.keys[0].private, "ES256")
    assert await tokens_of(issuer).verify_token(token) is not None
    issuer.keys.append(Key())
    assert await tokens_of(issuer).verify_token(token) is None


async def test_a_key_of_a_rotation_is_fetched_but_not_more_often_than_allowed(
    issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    tokens, token, new = (
        tokens_of(issuer, jwks_url=f"{issuer.issuer}/keys"),
        issuer.token(RESOURCE),
        Key(),
    )
    for _ in range(3):
        assert await tokens.verify_token(token) is not None
        assert await tokens.verify_token(issuer.token(RESOURCE, key=new)) is None
    assert issuer.fetches_of_keys() == 1
    issuer.keys = [new]
    now += REFETCH_INTERVAL + 1
    assert await tokens.verify_token(issuer.token(RESOURCE, key=new)) is not None
    assert await tokens.verify_token(token) is None
    assert issuer.fetches_of_keys() == 2


async def test_old_keys_are_fetched_again_and_no_longer_trusted(
    issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    tokens, token = tokens_of(issuer, jwks_url=f"{issuer.issuer}/keys"), issuer.token(RESOURCE)
    assert await tokens.verify_token(token) is not None
    now += KEYS_LIFESPAN - 1
    assert await tokens.verify_token(token) is not None
    assert issuer.fetches_of_keys() == 1
    now += 2
    assert await tokens.verify_token(token) is not None
    assert issuer.fetches_of_keys() == 2
    issuer.status = 500
    now += KEYS_LIFESPAN + 1
    for _ in range(3):
        with pytest.raises(KeysUnavailableError):
            await tokens.verify_token(token)
    assert issuer.fetches_of_keys() == 3
    issuer.status = 200
    now += REFETCH_INTERVAL
    assert await tokens.verify_token(token) is not None
