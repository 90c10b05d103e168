"""The keys of an authorization server, cached: a request with a token of a known key never waits for that server."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence

from jwt import PyJWK

from kgagent.adapters.mcp.issuer_keys import KeysUnavailableError

FRESH = 600.0
"""Seconds after which keys are fetched again, because the server may have withdrawn one."""

USABLE = 3600.0
"""Seconds after which keys are no longer trusted if they cannot be fetched again."""

REFETCH_INTERVAL = 10.0
"""Seconds between two fetches, however many tokens name unknown keys."""

_log = logging.getLogger(__name__)


class SigningKeys:
    """Keys by their id, fetched when needed, at most once at a time and once in an interval."""

    def __init__(
        self, fetch: Callable[[], Awaitable[Sequence[PyJWK]]], *, refetch_interval: float = REFETCH_INTERVAL
    ) -> None:
        """Prepare; nothing is fetched yet.

        Args:
            fetch: fetches all keys.
            refetch_interval: seconds between two fetches.
        """
        self._fetch = fetch
        self._refetch_interval = refetch_interval
        self._keys: Sequence[PyJWK] = ()
        self._fetched = self._tried = -math.inf
        self._failure: str | None = None
        self._fetching = asyncio.Lock()

    async def find(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        """The key of an id for an algorithm; without an id the only one for it. None if there is no such key.

        Raises:
            KeysUnavailableError: the key is unknown and the keys cannot be fetched.
        """
        start = time.monotonic()
        found = self._known(key_id, algorithm)
        if found is not None and (start - self._fetched < FRESH or self._fetching.locked() or not self._may_try()):
            return found
        if self._may_try() or self._fetching.locked():
            async with self._fetching:
                if self._tried < start:
                    await self._try()
        found = self._known(key_id, algorithm)
        if found is None and self._failure is not None:
            raise KeysUnavailableError(self._failure)
        return found

    def _known(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        if time.monotonic() - self._fetched >= USABLE:
            return None
        usable = [key for key in self._keys if key.algorithm_name == algorithm]
        if key_id is None:
            return usable[0] if len(usable) == 1 else None
        return next((key for key in usable if key.key_id == key_id), None)

    def _may_try(self) -> bool:
        return time.monotonic() - self._tried >= self._refetch_interval

    async def _try(self) -> None:
        try:
            self._keys = await self._fetch()
        except KeysUnavailableError as error:
            self._failure = str(error)
            _log.warning("The keys of the authorization server cannot be fetched: %s", error)
        except Exception as error:
            # Whatever it is, the next requests must not fetch again before the interval is over.
            self._failure = f"{type(error).__name__} while fetching the keys"
            _log.exception("The keys of the authorization server cannot be fetched")
        else:
            self._failure = None
            self._fetched = time.monotonic()
        self._tried = time.monotonic()
