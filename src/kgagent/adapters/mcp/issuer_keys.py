"""Fetches the public keys with which an authorization server signs its tokens."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx2
from jwt import PyJWK, PyJWTError
from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls

from kgagent.errors import KgAgentError

TIMEOUT = 5.0
"""Seconds for the metadata and the keys together."""

MAX_BYTES = 1_048_576
MAX_KEYS = 100

RSA_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
"""What an RSA key may be used for that names no algorithm; other keys need no name, because their curve tells."""


class KeysUnavailableError(KgAgentError):
    """Internal: the keys of an authorization server cannot be fetched; clients get status 503."""


async def fetch_keys(issuer: str, jwks_url: str | None) -> tuple[PyJWK, ...]:
    """Fetch the keys that verify signatures, each once for every algorithm with which it can be used.

    Keys of unknown kinds and symmetric ones are omitted.

    Args:
        issuer: URL of the authorization server, whose metadata (RFC 8414 or OpenID Connect) names its keys.
        jwks_url: URL of the keys; None asks the issuer.

    Raises:
        KeysUnavailableError: a server did not answer in time or as it must, or there is no such key.
    """
    try:
        async with asyncio.timeout(TIMEOUT), httpx2.AsyncClient(timeout=TIMEOUT) as http:
            url = jwks_url or await _jwks_url(http, issuer)
            keys = _keys(await _json(http, url))
    except TimeoutError:
        raise KeysUnavailableError(f"{jwks_url or issuer} did not answer within {TIMEOUT:.0f} s") from None
    if not keys:
        raise KeysUnavailableError(f"{url} has no key that can verify a signature")
    return keys


def is_protected(url: str) -> bool:
    """Whether nobody between can replace what a URL answers: HTTPS, or this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and (host == "localhost" or _is_loopback(host)))


async def _jwks_url(http: httpx2.AsyncClient, issuer: str) -> str:
    """The URL of the keys in the first metadata of the issuer that names one."""
    failures = []
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer):
        try:
            metadata = await _json(http, url)
        except KeysUnavailableError as error:
            failures.append(str(error))
            continue
        found = metadata.get("jwks_uri")
        if metadata.get("issuer") != issuer:
            failures.append(f"{url} describes an issuer other than {issuer}")
        elif not isinstance(found, str) or not is_protected(found):
            failures.append(f"{url} names no https URL as jwks_uri")
        else:
            return found
    raise KeysUnavailableError("; ".join(failures))


async def _json(http: httpx2.AsyncClient, url: str) -> Mapping[str, Any]:
    """A JSON object at a URL, without redirects and up to a size."""
    body = bytearray()
    try:
        async with http.stream("GET", url, headers={"Accept": "application/json"}) as answer:
            if answer.status_code != httpx2.codes.OK:
                raise KeysUnavailableError(f"{url} answered with status {answer.status_code}")
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > MAX_BYTES:
                    raise KeysUnavailableError(f"{url} answered with more than {MAX_BYTES:,} bytes")
        decoded = json.loads(body)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise KeysUnavailableError(f"{url} cannot be reached: {type(error).__name__}") from error
    except (ValueError, RecursionError):
        decoded = None
    if not isinstance(decoded, dict):
        raise KeysUnavailableError(f"{url} did not answer with a JSON object")
    return decoded


def _keys(jwks: Mapping[str, Any]) -> tuple[PyJWK, ...]:
    listed = jwks.get("keys")
    keys: list[PyJWK] = []
    for jwk in listed[:MAX_KEYS] if isinstance(listed, list) else ():
        if not isinstance(jwk, dict) or jwk.get("kty") == "oct" or jwk.get("use", "sig") != "sig":
            continue
        algorithms = RSA_ALGORITHMS if jwk.get("kty") == "RSA" and not jwk.get("alg") else (None,)
        with suppress(PyJWTError, ValueError, TypeError, NotImplementedError):
            keys += [PyJWK(jwk, algorithm) for algorithm in algorithms]
    return tuple(keys)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
