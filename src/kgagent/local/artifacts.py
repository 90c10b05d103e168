"""Downloads jars from Maven Central, verified against the checksums of a lock file."""

import errno
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.errors import DownloadError
from kgagent.extras import require_extra
from kgagent.local.lock import Lock, LockedFile, load_lock
from kgagent.progress import Progress, SilentProgress
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
        cache: folder of downloaded files; by default the settings' cache, else the user's cache
            folder.
        progress: receives the number of bytes of each file that is downloaded.

    Returns:
        The paths of the files, in the order of the lock.

    Raises:
        ConfigurationError: the lock does not exist, or the `local` extra is not installed.
        DownloadError: a file could not be downloaded or written, or is damaged.
    """
    lock = load_lock(name)
    folder = (cache or get_settings().cache or default_cache()).expanduser().absolute()
    root = folder / "maven"
    if _missing(lock, root):
        with require_extra("local"):
            from filelock import FileLock
        with _disk_errors_explained(folder):
            root.mkdir(parents=True, exist_ok=True)
            with FileLock(root / f"{name}.lock"):
                # Another process may have downloaded them meanwhile.
                _download_all(
                    _missing(lock, root), folder, lock.roots[0], progress or SilentProgress()
                )
    return [root / file.path for file in lock.files]


def default_cache() -> Path:
    """Default folder of downloaded files."""
    with require_extra("local"):
        from platformdirs import user_cache_path
    return user_cache_path("kgagent", appauthor=False)


def _missing(lock: Lock, root: Path) -> list[LockedFile]:
    """The files that are missing or damaged."""
    with ThreadPoolExecutor(_CONCURRENCY) as pool:
        valid = list(pool.map(lambda file: is_valid(root / file.path, file), lock.files))
    return [file for file, is_present in zip(lock.files, valid, strict=True) if not is_present]


def _download_all(files: Sequence[LockedFile], folder: Path, what: str, progress: Progress) -> None:
    if not files:
        return
    pool = ThreadPoolExecutor(_CONCURRENCY)
    with (
        tempfile.TemporaryDirectory(
            dir=folder, prefix="partial-", ignore_cleanup_errors=True
        ) as staging,
        progress.task(
            f"Downloading {what} and its dependencies", sum(file.size for file in files)
        ) as advance,
    ):
        downloads = {
            pool.submit(_download, file, folder / "maven", Path(staging)): file for file in files
        }
        try:
            for download in as_completed(downloads):
                download.result()
                advance(downloads[download].size)
        finally:
            pool.shutdown(cancel_futures=True)


def _download(file: LockedFile, root: Path, staging: Path) -> None:
    target = root / file.path
    failure = ""
    for attempt in range(_ATTEMPTS):
        folder = staging / f"{file.sha256}-{attempt}"
        group, artifact, version, classifier = file.parts
        try:
            jar = (
                maven_context(folder)
                .project(group, artifact)
                .at_version(version)
                .artifact(classifier)
                .resolve()
            )
        except (OSError, RuntimeError) as error:
            if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
                raise
            reason = f"{type(error).__name__}: {str(error)[:200]}"
            failure = (
                f"could not be downloaded ({reason}). Check the network connection and try again."
            )
        else:
            if is_valid(jar, file):
                target.parent.mkdir(parents=True, exist_ok=True)
                jar.replace(target)
                return
            failure = (
                f"has the wrong checksum after {_ATTEMPTS} downloads. "
                "A proxy may be changing downloads; try another network."
            )
        shutil.rmtree(folder, ignore_errors=True)
    target.unlink(missing_ok=True)
    raise DownloadError(f"{file.coordinate} {failure}")


def maven_context(repo: Path) -> "MavenContext":
    """Create the client of Maven Central for one download, into an empty folder."""
    with require_extra("local"):
        from jgo.maven import MavenContext, PythonResolver
    return MavenContext(
        resolver=PythonResolver(), repo_cache=repo, local_repos=[], timeout=_TIMEOUT_SECONDS
    )


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


@contextmanager
def _disk_errors_explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DownloadError(
            f"Downloaded files cannot be written to {folder}: {error.strerror or error}. "
            "Check free space and permissions, or set KGAGENT_CACHE to another folder."
        ) from error
