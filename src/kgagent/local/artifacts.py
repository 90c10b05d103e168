"""Downloads jars from Maven Central, verified against the checksums of a lock file."""

import errno
import hashlib
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.errors import DownloadError
from kgagent.extras import require_extra
from kgagent.local.lock import Lock, LockedFile, load_lock
from kgagent.local.paths import default_cache
from kgagent.local.verification import is_verified, record_verification
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.settings import get_settings

if TYPE_CHECKING:
    from jgo.maven import MavenContext

_CONCURRENCY = 16
_ATTEMPTS = 3
_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 1 << 20
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS}


def fetch(name: str, *, cache: Path | None = None, progress: Progress | None = None) -> list[Path]:
    """Download all files of a lock, each with the checksum that the lock states.

    Valid files in the cache are not downloaded again; if all are valid, no network is needed.

    Args:
        name: name of a lock, such as "neo4j-2026.08.1".
        cache: folder of downloaded files; by default the settings' cache, else the user's cache folder.
        progress: receives the number of bytes downloaded.

    Returns:
        The paths of the files, in the order of the lock.

    Raises:
        ConfigurationError: the lock does not exist, or the `local` extra is not installed.
        DownloadError: a file could not be downloaded or written, or is damaged.
    """
    lock = load_lock(name)
    folder = _folder(cache)
    paths = [folder / "maven" / file.path for file in lock.files]
    record = _verification_record(folder, name)
    if is_verified(record, lock, paths):
        return paths
    with require_extra("local"):
        from filelock import FileLock
    with _disk_errors_explained(folder):
        record.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(record.with_suffix(".lock")):
            if not is_verified(record, lock, paths):
                _download_missing(lock, folder, progress or SilentProgress())
                record_verification(record, lock, paths)
    return paths


def forget(name: str, *, cache: Path | None = None) -> None:
    """Make the next `fetch` of this lock verify every file again."""
    with suppress(OSError):
        _verification_record(_folder(cache), name).unlink(missing_ok=True)


def _folder(cache: Path | None) -> Path:
    return (cache or get_settings().cache or default_cache()).expanduser().absolute()


def _verification_record(folder: Path, name: str) -> Path:
    return folder / "verified" / f"{name}.json"


def _download_missing(lock: Lock, folder: Path, progress: Progress) -> None:
    root = folder / "maven"
    with ThreadPoolExecutor(_CONCURRENCY) as pool:
        valid = list(pool.map(lambda file: is_valid(root / file.path, file), lock.files))
    missing = [file for file, is_present in zip(lock.files, valid, strict=True) if not is_present]
    if not missing:
        return
    for file in missing:
        (root / file.path).unlink(missing_ok=True)
    total = sum(file.size for file in missing)
    with (
        tempfile.TemporaryDirectory(dir=folder, prefix="partial-", ignore_cleanup_errors=True) as staging,
        progress.task(f"Downloading {lock.roots[0]} and its dependencies", total) as advance,
    ):
        _download_all(missing, root, Path(staging), _synchronized(advance))


def _download_all(files: Iterable[LockedFile], root: Path, staging: Path, advance: Advance) -> None:
    pool = ThreadPoolExecutor(_CONCURRENCY)
    try:
        for download in [pool.submit(_download, file, root, staging, advance) for file in files]:
            download.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _download(file: LockedFile, root: Path, staging: Path, advance: Advance) -> None:
    failure: DownloadError | None = None
    for attempt in range(_ATTEMPTS):
        counter = ByteCounter(advance)
        folder = staging / f"{file.sha256}-{attempt}"
        failure = _attempt_download(file, maven_context(folder, counter), root / file.path)
        shutil.rmtree(folder, ignore_errors=True)
        if failure is None:
            return
        counter.reset()
    if failure is not None:
        raise failure


def _attempt_download(file: LockedFile, context: "MavenContext", target: Path) -> DownloadError | None:
    group, artifact, version, classifier = file.parts
    try:
        jar = context.project(group, artifact).at_version(version).artifact(classifier).resolve()
    except (OSError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
            raise
        return DownloadError(
            f"{file.coordinate} could not be downloaded ({_short(error)}). Check the network connection and try again."
        )
    if not is_valid(jar, file):
        return DownloadError(
            f"{file.coordinate} has the wrong checksum after {_ATTEMPTS} downloads. "
            "A proxy may be changing downloads; try another network."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    jar.replace(target)
    return None


def maven_context(repo: Path, counter: "ByteCounter") -> "MavenContext":
    """Create the client of Maven Central for one download.

    Args:
        repo: empty folder that receives the file.
        counter: receives the progress.
    """
    with require_extra("local"):
        from jgo.maven import MavenContext, PythonResolver
    resolver = PythonResolver(progress_callback=counter.track)
    return MavenContext(resolver=resolver, repo_cache=repo, local_repos=[], timeout=_TIMEOUT_SECONDS)


def is_valid(path: Path, file: LockedFile) -> bool:
    """Whether the file at `path` has the size and checksum of the locked file."""
    try:
        if path.stat().st_size != file.size:
            return False
        return sha256_of(path) == file.sha256
    except OSError:
        return False


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        digest = hashlib.sha256()
        for chunk in iter(partial(stream.read, _CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


class ByteCounter:
    """Reports the bytes of one attempt, and subtracts them again if the attempt fails."""

    def __init__(self, advance: Advance) -> None:
        self._advance = advance
        self._done = 0

    @contextmanager
    def track(self, _filename: str, _total: int) -> Iterator[Advance]:
        """The progress callback of jgo."""
        yield self._count

    def _count(self, units: int) -> None:
        self._done += units
        self._advance(units)

    def reset(self) -> None:
        """Subtract what this attempt has reported."""
        self._advance(-self._done)
        self._done = 0


def _synchronized(advance: Advance) -> Advance:
    guard = threading.Lock()

    def guarded(units: int) -> None:
        with guard:
            advance(units)

    return guarded


@contextmanager
def _disk_errors_explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DownloadError(
            f"Downloaded files cannot be written to {folder}: {error.strerror or error}. "
            "Check free space and permissions, or set KGAGENT_CACHE to another folder."
        ) from error


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
