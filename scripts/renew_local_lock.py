"""Make a lock file of `kgagent.local` anew: resolve the tree of its roots, load every jar, note its checksum.

Takes a minute or two. With roots given the lock need not be there yet:

    python scripts/renew_local_lock.py neo4j-2026.08.1
    python scripts/renew_local_lock.py neo4j-2026.09.0 --like neo4j-2026.08.1 \
        --root org.neo4j:neo4j:2026.09.0 --root org.neo4j.app:neo4j-server:2026.09.0

jgo decides between versions of the same jar a little differently from Maven; roots beyond the two of Neo4j pin what
Maven takes (compare with `mvn dependency:list -DincludeScope=runtime` when the version changes). Run the integration
tests afterwards: they show whether something that is left out was needed.
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
_AT_ONCE = 16
_TIMEOUT_SECONDS = 60


def main() -> None:
    """Read the arguments, write the lock."""
    options = _options()
    like = load_lock(options.like or options.name) if options.like or not options.root else None
    roots = tuple(options.root or (like.roots if like else ()))
    left_out = tuple(options.leave_out or (like.left_out if like else ()))
    with tempfile.TemporaryDirectory() as folder:
        lock = make_lock(roots, left_out, Path(options.repository or folder))
    target = _LOCKS / f"{options.name}.json"
    target.write_text(lock.render(), encoding="utf-8")
    print(f"{target}: {len(lock.files)} files, {lock.size / 1e6:.1f} MB")


def make_lock(roots: Sequence[str], left_out: Sequence[str], repository: Path) -> Lock:
    """Resolve and load the roots' tree.

    Args:
        roots: coordinates, `group:artifact:version`.
        left_out: patterns of `group:artifact` that are resolved but not locked; "*" keeps the roots alone.
        repository: folder in the manner of a Maven repository, to load into.
    """
    context = MavenContext(repo_cache=repository, timeout=_TIMEOUT_SECONDS)
    wanted = [
        artifact
        for artifact in _tree(context, roots)
        if _gav(artifact) in roots or not _is_left_out(artifact, left_out)
    ]
    print(f"{len(wanted)} jars to load")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        files = list(pool.map(_lock_file, wanted))
    return Lock(
        roots=tuple(roots),
        left_out=tuple(left_out),
        files=tuple(sorted(files, key=lambda file: file.coordinate)),
    )


def _tree(context: MavenContext, roots: Iterable[str]) -> list[Artifact]:
    print("Resolving the tree ...")
    inputs, behind = context.resolver.resolve([context.create_dependency(root) for root in roots])
    artifacts = {dependency.artifact.key: dependency.artifact for dependency in [*inputs, *behind]}
    return [artifact for artifact in artifacts.values() if artifact.packaging == "jar"]


def _gav(artifact: Artifact) -> str:
    return f"{artifact.groupId}:{artifact.artifactId}:{artifact.version}"


def _is_left_out(artifact: Artifact, patterns: Iterable[str]) -> bool:
    return any(fnmatch(f"{artifact.groupId}:{artifact.artifactId}", pattern) for pattern in patterns)


def _lock_file(artifact: Artifact) -> LockedFile:
    path = artifact.resolve()
    parts = [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier]
    return LockedFile(coordinate=":".join(filter(None, parts)), sha256=sha256_of(path), size=path.stat().st_size)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", help="the lock's name, without .json")
    parser.add_argument("--like", help="take roots and what is left out from this lock where they are not given")
    parser.add_argument("--root", action="append", help="group:artifact:version; may be repeated")
    parser.add_argument("--leave-out", action="append", help="pattern of group:artifact; may be repeated")
    parser.add_argument("--repository", help="folder to load into, kept afterwards; by default a temporary one")
    return parser.parse_args()


if __name__ == "__main__":
    main()
