"""Create or renew a lock file of `kgagent.local`: resolve dependencies, download every jar, record
its checksum.

It takes a minute or two. With `--root`, the lock file may be new:

    python scripts/renew_local_lock.py neo4j-2026.08.1
    python scripts/renew_local_lock.py neo4j-2026.09.0 --like neo4j-2026.08.1 \
        --root org.neo4j:neo4j:2026.09.0 --root org.neo4j.app:neo4j-server:2026.09.0

jgo and Maven may choose different versions of the same jar; the roots other than the two of Neo4j
pin the versions that Maven chooses (compare with `mvn dependency:list -DincludeScope=runtime` when
the version changes). Run the integration tests afterwards: they fail if an excluded jar is needed.
"""

import argparse
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

from jgo.maven import Artifact, MavenContext

from kgagent.local.artifacts import sha256_of
from kgagent.local.lock import Lock, LockedFile, load_lock

_LOCKS = Path(__file__).parents[1] / "src" / "kgagent" / "local" / "locks"
_CONCURRENCY = 16
_TIMEOUT_SECONDS = 60


def main() -> None:
    """Read the arguments and write the lock file."""
    options = _options()
    template = load_lock(options.like or options.name) if options.like or not options.root else None
    roots = tuple(options.root or (template.roots if template else ()))
    excluded = tuple(options.exclude or (template.excluded if template else ()))
    with tempfile.TemporaryDirectory() as folder:
        lock = make_lock(roots, excluded, Path(options.repository or folder))
    target = _LOCKS / f"{options.name}.json"
    target.write_text(lock.render(), encoding="utf-8")
    print(
        f"{target}: {len(lock.files)} files, {sum(file.size for file in lock.files) / 1e6:.1f} MB"
    )


def make_lock(roots: Sequence[str], excluded: Sequence[str], repository: Path) -> Lock:
    """Resolve the dependencies of the roots and download them.

    Args:
        roots: coordinates, `group:artifact:version`.
        excluded: patterns of `group:artifact` that are resolved but not locked; "*" locks the roots
            only.
        repository: folder to download to, in the layout of a Maven repository.
    """
    context = MavenContext(repo_cache=repository, timeout=_TIMEOUT_SECONDS)
    wanted = [
        artifact
        for artifact in _dependencies(context, roots)
        if _coordinate(artifact) in roots or not _is_excluded(artifact, excluded)
    ]
    print(f"{len(wanted)} jars to download")
    with ThreadPoolExecutor(_CONCURRENCY) as pool:
        files = list(pool.map(_lock_file, wanted))
    return Lock(
        roots=tuple(roots),
        excluded=tuple(excluded),
        files=tuple(sorted(files, key=lambda file: file.coordinate)),
    )


def _dependencies(context: MavenContext, roots: Iterable[str]) -> list[Artifact]:
    print("Resolving dependencies ...")
    direct, transitive = context.resolver.resolve(
        [context.create_dependency(root) for root in roots]
    )
    artifacts = {
        dependency.artifact.key: dependency.artifact for dependency in [*direct, *transitive]
    }
    return [artifact for artifact in artifacts.values() if artifact.packaging == "jar"]


def _coordinate(artifact: Artifact) -> str:
    return f"{artifact.groupId}:{artifact.artifactId}:{artifact.version}"


def _is_excluded(artifact: Artifact, patterns: Iterable[str]) -> bool:
    return any(
        fnmatch(f"{artifact.groupId}:{artifact.artifactId}", pattern) for pattern in patterns
    )


def _lock_file(artifact: Artifact) -> LockedFile:
    path = artifact.resolve()
    parts = [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier]
    return LockedFile(
        coordinate=":".join(filter(None, parts)), sha256=sha256_of(path), size=path.stat().st_size
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", help="name of the lock file, without .json")
    parser.add_argument("--like", help="lock file that provides default roots and exclusions")
    parser.add_argument("--root", action="append", help="group:artifact:version; may be repeated")
    parser.add_argument(
        "--exclude", action="append", help="pattern of group:artifact; may be repeated"
    )
    parser.add_argument(
        "--repository", help="folder to download to, which is kept; by default a temporary folder"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
