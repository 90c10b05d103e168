import json
import subprocess
import sys

import pytest

from kgagent.cli.hook_input import public_text, read_hook_input
from kgagent.cli.recall.client import plain_options


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a  c"),
        ("a <PRIVATE >b\nc", "a "),
        ("a <private>b <private>c</private> d</private> e", "a  e"),
        ("a </private> b", "a  b"),
    ],
)
def test_private_text_is_cut(text: str, kept: str) -> None:
    assert public_text(text) == kept
    hook = {"hook_event_name": "UserPromptSubmit", "prompt": text}
    assert read_hook_input(json.dumps(hook)).prompt == kept


def test_json_of_a_user_is_a_prompt_and_json_of_a_host_has_one() -> None:
    assert read_hook_input('{"text": "x"}').prompt == '{"text": "x"}'
    hook = '\ufeff{"prompt": "x\\ud83d \\u003cprivate\\u003ePIN 4711"}'
    assert read_hook_input(hook).prompt == "x? "


def test_options_that_are_no_pairs_are_left_to_the_command_line() -> None:
    assert plain_options(["--user", "me", "--deadline", "0.5"]) == {"user": "me", "deadline": 0.5}
    assert plain_options(["--help"]) is None
    assert plain_options(["--tokens", "many"]) is None


def test_recall_imports_the_standard_library_alone() -> None:
    code = (
        "import sys, kgagent.cli.program, kgagent.cli.recall.client;"
        "print(sorted({name.split('.')[0] for name in sys.modules} - {*sys.stdlib_module_names}))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() in ("['__main__', 'kgagent', 'lazy_loader']", done.stderr)
