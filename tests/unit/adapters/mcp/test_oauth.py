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
from jwt import PyJWK
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm

from kgagent.adapters.mcp import HttpOptions, OAuthOptions
from kgagent.adapters.mcp.issuer_keys import RSA_ALGORITHMS, KeysUnavailableError, fetch_keys
from kgagent.adapters.mcp.oauth import OAuthTokens
from kgagent.adapters.mcp.signing_keys import FRESH, USABLE, SigningKeys
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
        ({"issuer": "id.example"}, "issuer must be an https URL"),
        ({"issuer": "https://"}, "issuer must be an https URL"),
        ({"issuer": "https://user:secret@id.example"}, "without user or fragment"),
        ({"issuer": "https://id.example#part"}, "without user or fragment"),
        ({"issuer": "https://[::1"}, "issuer must be an https URL"),
        ({"issuer": "https://id.example:99999"}, "issuer must be an https URL"),
        ({"jwks_url": "http://id.example/keys"}, "jwks_url must be an https URL"),
        ({"jwks_url": "https://id.example:99999/keys"}, "jwks_url must be an https URL"),
        ({"resource": "graph.example/mcp"}, "resource must be the http"),
        ({"resource": "https://[::1"}, "resource must be the http"),
        ({"resource": "https://graph.example:99999/mcp"}, "resource must be the http"),
        ({"audience": " "}, "audience must not be empty"),
        ({"user_claim": ""}, "user_claim must not be empty"),
        ({"required_scopes": ("a b",)}, "A scope is one word"),
        ({"required_scopes": ('a"',)}, "A scope is one word"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        OAuthOptions(**{"issuer": "https://id.example"} | options)  # type: ignore[arg-type]


def test_http_is_enough_on_this_machine() -> None:
    for issuer in ("http://localhost:9000", "http://127.0.0.1/a", "http://[::1]:1"):
        assert OAuthOptions(issuer=issuer).issuer == issuer


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


def test_one_user_excludes_an_authorization_server() -> None:
    with pytest.raises(ConfigurationError, match="Give either user_id"):
        HttpOptions(user_id="me", oauth=OAuthOptions(issuer="https://id.example"))


async def test_metadata_is_found_where_openid_connect_has_it(issuer: AuthorizationServer) -> None:
    issuer.metadata_path = "/.well-known/openid-configuration"
    [key] = await fetch_keys(issuer.issuer, None)
    assert key.key_id == issuer.keys[0].kid


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"issuer": "https://other.example"}, "describes an issuer other"),
        ({"jwks_uri": None}, "names no https URL as jwks_uri"),
        ({"jwks_uri": "http://id.example/keys"}, "names no https URL as jwks_uri"),
        ({"jwks_uri": "https://[::1"}, "names no https URL as jwks_uri"),
        ({"jwks_uri": "https://id.example:99999/keys"}, "names no https URL as jwks_uri"),
    ],
)
async def test_metadata_that_leads_elsewhere_is_refused(
    issuer: AuthorizationServer, change: dict[str, object], reason: str
) -> None:
    issuer.changes = change
    with pytest.raises(KeysUnavailableError, match=reason):
        await fetch_keys(issuer.issuer, None)


async def test_after_metadata_that_leads_elsewhere_the_next_is_asked(issuer: AuthorizationServer) -> None:
    other = json.dumps(issuer.metadata() | {"issuer": "https://other.example"})
    oauth = issuer.http.expect_request("/.well-known/oauth-authorization-server")
    oauth.respond_with_data(other, content_type="application/json")
    issuer.metadata_path = "/.well-known/openid-configuration"
    [key] = await fetch_keys(issuer.issuer, None)
    assert key.key_id == issuer.keys[0].kid


async def test_a_server_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeysUnavailableError, match=r"http://127\.0\.0\.1:1/keys cannot be reached: ConnectError"):
        await fetch_keys("https://id.example", "http://127.0.0.1:1/keys")


async def test_encryption_keys_and_unknown_kinds_are_left_out(issuer: AuthorizationServer) -> None:
    good, encrypting = Key(), Key()
    binary = {"kty": "EC", "crv": "P-256", "x": 1, "y": 2}
    issuer.jwks = {"keys": [encrypting.jwk | {"use": "enc"}, {"kty": "unknown"}, binary, good.jwk]}
    [key] = await fetch_keys(issuer.issuer, None)
    assert key.key_id == good.kid


RESOURCE = "https://graph.example/mcp"


async def user_of(
    issuer: AuthorizationServer,
    private: RSAPrivateKey | Ed25519PrivateKey,
    algorithm: str,
    *,
    kid: str | None = "one",
    **fields: str,
) -> str | None:
    """The user of a token that a key has signed; the published key names no algorithm, unless `fields` do."""
    if isinstance(private, RSAPrivateKey):
        public = RSAAlgorithm.to_jwk(private.public_key())
    else:
        public = OKPAlgorithm.to_jwk(private.public_key())
    issuer.jwks = {"keys": [json.loads(public) | {"kid": "one"} | fields]}
    claims = {"iss": issuer.issuer, "aud": RESOURCE, "sub": "ada", "exp": int(time.time()) + 60}
    token = jwt.encode(claims, private, algorithm, headers=None if kid is None else {"kid": kid})
    access = await OAuthTokens(OAuthOptions(issuer=issuer.issuer, resource=RESOURCE), "").verify_token(token)
    return None if access is None else access.subject


async def test_rsa_and_ed25519_are_accepted_unless_the_key_is_short(issuer: AuthorizationServer) -> None:
    private = rsa.generate_private_key(65537, 2048)
    for algorithm in RSA_ALGORITHMS:
        assert await user_of(issuer, private, algorithm) == "ada"
    assert await user_of(issuer, private, "PS256", kid=None) == "ada"
    assert await user_of(issuer, private, "PS256", alg="PS256") == "ada"
    assert await user_of(issuer, private, "RS256", alg="PS256") is None
    assert await user_of(issuer, Ed25519PrivateKey.generate(), "EdDSA") == "ada"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jwt.InsecureKeyLengthWarning)
        assert await user_of(issuer, rsa.generate_private_key(65537, 1024), "RS256") is None


async def test_old_keys_are_fetched_again_and_at_last_no_longer_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    now, fetches, down = 1_000.0, 0, False
    key = Key()
    monkeypatch.setattr("kgagent.adapters.mcp.signing_keys.time.monotonic", lambda: now)

    async def fetch() -> list[PyJWK]:
        nonlocal fetches
        fetches += 1
        if down:
            raise KeysUnavailableError("down")
        return [PyJWK(key.jwk)]

    keys = SigningKeys(fetch)
    assert await keys.find(key.kid, "ES256") is not None
    now += FRESH - 1
    assert await keys.find(key.kid, "ES256") is not None
    assert fetches == 1
    now += 2
    assert await keys.find(key.kid, "ES256") is not None
    assert fetches == 2
    down = True
    now += USABLE - 1
    assert await keys.find(key.kid, "ES256") is not None
    assert fetches == 3
    assert await keys.find(key.kid, "ES256") is not None
    assert fetches == 3
    now += 2
    with pytest.raises(KeysUnavailableError, match="down"):
        await keys.find(key.kid, "ES256")
    down = False
    now += 60
    assert await keys.find(key.kid, "ES256") is not None


async def test_an_unexpected_error_does_not_make_every_request_fetch_again() -> None:
    fetches = 0

    async def fetch() -> list[PyJWK]:
        nonlocal fetches
        fetches += 1
        raise LookupError("a fault of a library")

    keys = SigningKeys(fetch)
    for _ in range(3):
        with pytest.raises(KeysUnavailableError, match="LookupError while fetching the keys"):
            await keys.find("one", "ES256")
    assert fetches == 1
