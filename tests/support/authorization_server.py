"""A local OAuth authorization server over real HTTP: metadata, keys, and tokens that a test writes
itself.
"""

import base64
import json
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

CLIENT_ID = "client-7"
CLIENT_SECRET = "not-so-secret-8d1f"


@dataclass(frozen=True)
class Key:
    """A key pair; elliptic curves, because they are made in no time."""

    kid: str = field(default_factory=lambda: uuid.uuid4().hex)
    private: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def jwk(self) -> dict[str, Any]:
        public: dict[str, Any] = json.loads(ECAlgorithm.to_jwk(self.private.public_key()))
        return public | {"kid": self.kid, "use": "sig", "alg": "ES256"}

    @property
    def pem(self) -> bytes:
        return self.private.public_key().public_bytes(
            Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
        )


@dataclass
class AuthorizationServer:
    """What it publishes, which a test may change, and what it was asked."""

    http: HTTPServer
    keys: list[Key] = field(default_factory=lambda: [Key()])
    jwks: Any = None
    metadata_path: str = "/.well-known/oauth-authorization-server"
    changes: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    claims: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def issuer(self) -> str:
        return self.http.url_for("").removesuffix("/")

    def token(
        self, audience: str, *, key: Key | None = None, typ: str = "at+jwt", **claims: Any
    ) -> str:
        """A token for a resource, with claims of one's own; a claim of None is left out."""
        signer = self.keys[0] if key is None else key
        now = int(time.time())
        made = {
            "iss": self.issuer,
            "aud": audience,
            "sub": "nobody",
            "iat": now,
            "exp": now + 300,
        } | claims
        present = {name: value for name, value in made.items() if value is not None}
        return jwt.encode(present, signer.private, "ES256", headers={"kid": signer.kid, "typ": typ})

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        } | self.changes

    def fetches_of_keys(self) -> int:
        return self.asked.count("/keys")

    def answer(self, request: Request) -> Response:
        self.asked.append(request.path)
        if self.status != 200:
            return Response("out of order", self.status)
        match request.path:
            case self.metadata_path:
                return _json(self.metadata())
            case "/keys":
                return _json(
                    {"keys": [key.jwk for key in self.keys]} if self.jwks is None else self.jwks
                )
            case "/token":
                return self._granted(request)
        return Response("nothing here", 404)

    def _granted(self, request: Request) -> Response:
        secret = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        assert request.headers["Authorization"] == f"Basic {secret}"
        token = self.token(request.form["resource"], client_id=CLIENT_ID, **self.claims)
        return _json({"access_token": token, "token_type": "Bearer", "expires_in": 300})


@contextmanager
def authorization_server() -> Iterator[AuthorizationServer]:
    """Run one while the block runs."""
    with HTTPServer(host="127.0.0.1", threaded=True) as http:
        server = AuthorizationServer(http)
        http.expect_request(re.compile("/.*")).respond_with_handler(server.answer)
        yield server


def unsigned(claims: dict[str, Any], **header: Any) -> str:
    """A token with `alg` none, or another header that its signature does not deserve."""
    parts = [json.dumps({"alg": "none", "typ": "JWT"} | header), json.dumps(claims)]
    return (
        ".".join(base64.urlsafe_b64encode(part.encode()).rstrip(b"=").decode() for part in parts)
        + "."
    )


def _json(body: Any) -> Response:
    return Response(json.dumps(body), content_type="application/json")
