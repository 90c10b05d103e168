"""Jars from Maven Central, by a lock file and its checksums."""

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
from kgagent.local.stamp import read_stamp, stamp_holds, write_stamp
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.settings import get_settings

if TYPE_CHECKING:
    from jgo.maven import MavenContext

_AT_ONCE = 16
_ATTEMPTS = 3
_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 1 << 20
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS}


def fetch(name: str, *, cache: Path | None = None, progress: Progress | None = None) -> list[Path]:
    """Have all files of a lock on this machine, each with the checksum that the lock names.

    Files that are there and sound are not loaded again; with all of them there, no network is needed.

    Args:
        name: a lock's name, as "neo4j-2026.08.1".
        cache: folder to keep the files in; by default the settings' cache, else the user's cache folder.
        progress: shown the bytes that are loaded.

    Returns:
        The files' paths in the lock's order.

    Raises:
        ConfigurationError: no such lock, or the `local` extra is not installed.
        DownloadError: a file could not be had, is damaged, or could not be written.
    """
    lock = load_lock(name)
    folder = _folder(cache)
    paths = [folder / "maven" / file.path for file in lock.files]
    stamp = _stamp(folder, name)
    if stamp_holds(read_stamp(stamp), lock, paths):
        return paths
    with require_extra("local"):
        from filelock import FileLock
    with _disk_trouble_told(folder):
        stamp.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(stamp.with_suffix(".lock")):
            if not stamp_holds(read_stamp(stamp), lock, paths):
                _mend(lock, folder, progress or SilentProgress())
                write_stamp(stamp, lock, paths)
    return paths


def forget(name: str, *, cache: Path | None = None) -> None:
    """Have the next `fetch` of this lock read every file again."""
    with suppress(OSError):
        _stamp(_folder(cache), name).unlink(missing_ok=True)


def _folder(cache: Path | None) -> Path:
    return (cache or get_settings().cache or default_cache()).expanduser().absolute()


def _stamp(folder: Path, name: str) -> Path:
    return folder / "verified" / f"{name}.json"


def _mend(lock: Lock, folder: Path, progress: Progress) -> None:
    root = folder / "maven"
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        sound = list(pool.map(lambda file: is_sound(root / file.path, file), lock.files))
    missing = [file for file, good in zip(lock.files, sound, strict=True) if not good]
    if not missing:
        return
    for file in missing:
        (root / file.path).unlink(missing_ok=True)
    total = sum(file.size for file in missing)
    with (
        tempfile.TemporaryDirectory(dir=folder, prefix="partial-", ignore_cleanup_errors=True) as staging,
        progress.task(f"Downloading {lock.roots[0]} and what it needs", total) as advance,
    ):
        _download_all(missing, root, Path(staging), _one_at_a_time(advance))


def _download_all(files: Iterable[LockedFile], root: Path, staging: Path, advance: Advance) -> None:
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        for done in [pool.submit(_download, file, root, staging, advance) for file in files]:
            done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _download(file: LockedFile, root: Path, staging: Path, advance: Advance) -> None:
    failure: DownloadError | None = None
    for attempt in range(_ATTEMPTS):
        counted = _Counted(advance)
        own = staging / f"{file.sha256}-{attempt}"
        failure = _try_to_load(file, _context(own, counted), root / file.path)
        shutil.rmtree(own, ignore_errors=True)
        if failure is None:
            return
        counted.take_back()
    if failure is not None:
        raise failure


def _try_to_load(file: LockedFile, context: "MavenContext", target: Path) -> DownloadError | None:
    group, artifact, version, classifier = file.parts
    try:
        loaded = context.project(group, artifact).at_version(version).artifact(classifier).resolve()
    except (OSError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
            raise
        return DownloadError(
            f"{file.coordinate} could not be loaded ({_short(error)}). Check the network connection and try again."
        )
    if not is_sound(loaded, file):
        return DownloadError(
            f"{file.coordinate} came damaged again and again: its checksum is not the one expected. "
            "A proxy may be changing downloads; try another network."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    loaded.replace(target)
    return None


def _context(repo: Path, counted: "_Counted") -> "MavenContext":
    with require_extra("local"):
        from jgo.maven import MavenContext, PythonResolver
    resolver = PythonResolver(progress_callback=counted.follow)
    return MavenContext(resolver=resolver, repo_cache=repo, local_repos=[], timeout=_TIMEOUT_SECONDS)


def is_sound(path: Path, file: LockedFile) -> bool:
    """Whether the file at `path` is the locked one, byte by byte."""
    try:
        if path.stat().st_size != file.size:
            return False
        return sha256_of(path) == file.sha256
    except OSError:
        return False


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        digest = hashlib.sha256()
        for chunk in iter(partial(stream.read, _CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


class _Counted:
    """Counts the bytes of one attempt, so that a failed one can be taken back."""

    def __init__(self, advance: Advance) -> None:
        self._advance = advance
        self._done = 0

    @contextmanager
    def follow(self, _filename: str, _total: int) -> Iterator[Advance]:
        """The callback that jgo reports each download to."""
        yield self._count

    def _count(self, units: int) -> None:
        self._done += units
        self._advance(units)

    def take_back(self) -> None:
        """Withdraw what this attempt has reported."""
        self._advance(-self._done)
        self._done = 0


def _one_at_a_time(advance: Advance) -> Advance:
    guard = threading.Lock()

    def guarded(units: int) -> None:
        with guard:
            advance(units)

    return guarded


@contextmanager
def _disk_trouble_told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DownloadError(
            f"Downloaded files cannot be kept in {folder}: {error.strerror or error}. "
            "Free space or rights are missing there; KGAGENT_CACHE names another folder."
        ) from error


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
