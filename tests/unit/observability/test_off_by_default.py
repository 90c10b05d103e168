import subprocess
import sys

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_everything_but_spans_works_without_opentelemetry() -> None:
    code = BLOCKED + (
        "import kgagent.knowledge_graph, kgagent.sync, kgagent.cli.graph_session\n"
        "from kgagent.observability import Recorder\n"
        "from kgagent.observability import observer_from_settings\n"
        "from kgagent.observing import NULL_OBSERVER\n"
        "from kgagent.settings import Settings\n"
        "print(observer_from_settings(Settings(_env_file=None)) is NULL_OBSERVER)\n"
    )
    assert run(code) == "True"


def test_spans_without_opentelemetry_are_refused_with_advice() -> None:
    code = BLOCKED + (
        "from kgagent.errors import ConfigurationError\n"
        "from kgagent.observability import open_telemetry\n"
        "try:\n    open_telemetry()\n"
        "except ConfigurationError as error:\n    print(error)\n"
    )
    assert 'pip install "kgagent[otel]"' in run(code)


def test_opentelemetry_is_imported_only_on_request() -> None:
    code = (
        "import sys, kgagent.knowledge_graph, kgagent.observability\n"
        "print('opentelemetry' in sys.modules)\n"
        "kgagent.observability.open_telemetry()\n"
        "print('opentelemetry' in sys.modules)\n"
    )
    assert run(code).split() == ["False", "True"]
