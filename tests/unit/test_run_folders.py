"""A test run removes what killed runs left behind, and nothing else."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import psutil

from kgagent.local.process import home_argument
from tests.support.run_folders import new_run_folder, remove_ended_runs

RUN = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from tests.support.run_folders import new_run_folder

with ExitStack() as stack:
    print(new_run_folder(Path(sys.argv[1]), stack), flush=True)
    time.sleep(60)
"""


def test_the_folder_of_a_killed_run_and_its_server_are_ended_by_the_next_run(
    tmp_path: Path, repository_root: Path
) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    with subprocess.Popen(command, cwd=repository_root, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        folder = Path(run.stdout.readline().strip())
        home = folder / "neo4j"
        home.mkdir()
        pretended = [sys.executable, "-c", "import time; time.sleep(60)", home_argument(home)]
        with subprocess.Popen(pretended) as server:
            (home / "kgagent.json").write_text(f'{{"version": "2026.8.1", "port": 1, "pid": {server.pid}}}')

            remove_ended_runs(tmp_path)
            assert home.is_dir()
            assert server.poll() is None

            run.kill()
            run.wait(30)
            remove_ended_runs(tmp_path)
            assert not folder.exists()
            assert not psutil.pid_exists(server.pid)


def test_a_folder_is_removed_at_the_end_of_its_run(tmp_path: Path) -> None:
    with ExitStack() as stack:
        folder = new_run_folder(tmp_path, stack)
        remove_ended_runs(tmp_path)
        assert folder.is_dir()
    assert not folder.exists()


def test_a_folder_that_no_run_made_is_kept(tmp_path: Path) -> None:
    (tmp_path / "kgagent-tests-other").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.lock").touch()
    remove_ended_runs(tmp_path)
    assert (tmp_path / "kgagent-tests-other").is_dir()
    assert (tmp_path / "other").is_dir()
