"""`kgagent hooks`, on homes with existing configurations."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgagent.cli.hooks.clients import CLIENTS, ClientName
from tests.integration.cli.conftest import Kgagent

CONFIGURATIONS = {
    "claude-code": (
        ".claude/settings.json",
        b'{\r\n\t"model": "opus",\r\n\t"hooks": {"UserPromptSubmit": [{"hooks": '
        b'[{"type": "command", "command": "lint"}]}]},\r\n\t"ratio": 1.50}',
    ),
    "codex": (".codex/hooks.json", b'{"hooks":{"Stop":[{"hooks":[]}]}}'),
    "cursor": (
        ".cursor/hooks.json",
        b'{"version": 1, "hooks": {"stop": [{"command": "./audit.sh"}]}}\n\n',
    ),
    "gemini-cli": (".gemini/settings.json", '{"ui": {"theme": "Größe"}}'.encode()),
    "opencode": (".config/opencode/opencode.json", b'{"theme": "system"}'),
}

Home = Path


@pytest.fixture
def home(bare_environment: dict[str, str], environment: dict[str, str], tmp_path: Path) -> Home:
    """A home of the test's own."""
    folder = tmp_path / "home"
    folder.mkdir()
    for variables in (bare_environment, environment):
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            variables.pop(name, None)
        variables |= {"HOME": str(folder), "XDG_STATE_HOME": str(tmp_path / "state")}
    return folder


def snapshot(home: Home) -> dict[str, bytes]:
    """The files of a home."""
    return {str(path.relative_to(home)): path.read_bytes() for path in files(home)}


def files(home: Home) -> Iterator[Path]:
    return (path for path in home.rglob("*") if path.is_file())


@pytest.fixture
def configured(home: Home) -> Home:
    """A home with a configuration of each client."""
    for name, text in CONFIGURATIONS.values():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text)
    return home


@pytest.mark.parametrize("client", CLIENTS)
def test_uninstall_leaves_the_files_byte_for_byte_as_they_were(
    client: ClientName, kgagent: Kgagent, configured: Home
) -> None:
    before = snapshot(configured)
    printed = kgagent("hooks", "install", client, "--print")
    assert (printed.code, snapshot(configured)) == (0, before)
    for _ in range(2):
        done = kgagent("hooks", "install", client, "--user", "iris", "--yes")
        assert done.code == 0, done.err
    assert printed.out
    installed = snapshot(configured)
    changed = {name for name in installed if installed[name] != before.get(name)}
    assert len(changed) == 2
    assert any(name.endswith("skills/kgagent/SKILL.md") for name in changed)
    name, text = CONFIGURATIONS[client]
    if client == "opencode":
        assert '"iris"' in installed[".config/opencode/plugins/kgagent.js"].decode()
    else:
        settings = json.loads(installed[name])
        entries = json.dumps(settings)
        assert entries.count("recall --user iris") == 2
        assert entries.count("capture --background --trust known --user iris") == 2
        for key, value in json.loads(text).items():
            assert settings[key] == value or key == "hooks"
        for event, own in json.loads(text).get("hooks", {}).items():
            assert settings["hooks"][event][: len(own)] == own
    assert kgagent("hooks", "uninstall", client, "--yes").code == 0
    assert snapshot(configured) == before


def test_entries_have_the_form_of_each_client(kgagent: Kgagent, home: Home) -> None:
    for client in CLIENTS:
        assert kgagent("hooks", "install", client, "--yes").code == 0
    claude, codex, gemini = (
        json.loads((home / path).read_text())["hooks"]
        for path in (".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json")
    )
    assert [*claude] == ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"]
    assert [*gemini] == ["SessionStart", "BeforeAgent", "PreCompress", "SessionEnd"]
    assert codex == claude
    [group] = claude["UserPromptSubmit"]
    [hook] = group["hooks"]
    assert (hook["type"], hook["timeout"]) == ("command", 5)
    assert hook["command"].endswith("kgagent recall")
    assert gemini["SessionEnd"][0]["hooks"][0]["timeout"] == 3_000
    cursor = json.loads((home / ".cursor/hooks.json").read_text())
    assert cursor["version"] == 1
    assert cursor["hooks"]["beforeSubmitPrompt"][0].keys() == {"command", "timeout"}
    for client in CLIENTS:
        kgagent("hooks", "uninstall", client, "--yes")
    assert not list(files(home))


def test_uninstall_removes_only_what_is_ours_from_a_file_that_has_been_changed(
    kgagent: Kgagent, configured: Home
) -> None:
    kgagent("hooks", "install", "claude-code", "--yes")
    path = configured / ".claude/settings.json"
    settings = json.loads(path.read_text()) | {"added": True}
    settings["hooks"]["SessionEnd"].append({"hooks": [{"type": "command", "command": "bye"}]})
    path.write_text(json.dumps(settings))
    assert kgagent("hooks", "uninstall", "claude-code", "--yes").code == 0
    left = json.loads(path.read_text())
    assert left["added"]
    assert left["hooks"] == {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "lint"}]}],
        "SessionEnd": [{"hooks": [{"type": "command", "command": "bye"}]}],
    }


def test_commands_of_others_beside_ours_stay(kgagent: Kgagent, configured: Home) -> None:
    ours = "'C:/my tools/kgagent.exe' recall --user me".replace("'", '"')
    others = ["/opt/guard", "kgagent recall | tee audit; /opt/guard", "/opt/my-kgagent recall"]
    hooks = [{"type": "command", "command": one} for one in (ours, *others)]
    path = configured / ".claude/settings.json"
    path.write_text(
        json.dumps({"hooks": {"SessionStart": [{"hooks": hooks}, {"hooks": hooks[:1]}]}})
    )
    flat = configured / ".cursor/hooks.json"
    flat.write_text(json.dumps({"hooks": {"stop": hooks}}))
    for client, file, left in (
        ("claude-code", path, {"SessionStart": [{"hooks": hooks[1:]}]}),
        ("cursor", flat, {"stop": hooks[1:]}),
    ):
        assert kgagent("hooks", "uninstall", client, "--yes").code == 0
        assert json.loads(file.read_text())["hooks"] == left


def test_what_failed_half_way_can_be_taken_back(
    kgagent: Kgagent, configured: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(configured)

    def run(*arguments: str, full: bool) -> int:
        def refuse(path: Path, *_: object) -> None:
            raise OSError(f"{path}: no space left")

        with monkeypatch.context() as context:
            if full:
                context.setattr(Path, "unlink", refuse)
                context.setattr(Path, "write_bytes", refuse)
            return kgagent("hooks", *arguments, "--yes").code

    assert run("install", "claude-code", full=False) == 0
    assert run("install", "claude-code", "--user", "iris", full=True) == 1
    for _ in range(2):
        assert run("uninstall", "claude-code", full=True) == 1
    assert run("uninstall", "claude-code", full=False) == 0
    assert snapshot(configured) == before


def test_a_configuration_that_cannot_be_read_stays_as_it_is(kgagent: Kgagent, home: Home) -> None:
    path = home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text("{ // comment\n}")
    done = kgagent("hooks", "install", "gemini-cli", "--yes")
    assert done.code == 1
    assert "it is left as it is" in done.err
    assert snapshot(home) == {".gemini/settings.json": b"{ // comment\n}"}


def test_the_skill_is_printed(kgagent: Kgagent) -> None:
    assert kgagent("hooks", "skill").out.startswith("---\nname: kgagent\n")
    assert kgagent("hooks", "install").code == 2


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_the_plugin_of_opencode_recalls_once_a_prompt_and_captures(
    kgagent: Kgagent, home: Home, tmp_path: Path
) -> None:
    kgagent("hooks", "install", "opencode", "--yes")
    program = tmp_path / "kgagent"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncat >> {tmp_path}/given\n'
        '[ "$1" = recall ] && echo "Ruth lends boats."\nexit 0\n'
    )
    program.chmod(0o755)
    plugin = home / ".config/opencode/plugins/kgagent.js"
    text = plugin.read_text()
    [line] = [one for one in text.splitlines() if one.startswith("const [PROGRAM")]
    path = tmp_path / "plugin.mjs"
    path.write_text(text.replace(line, f'const [PROGRAM, OPTIONS] = ["{program}", []];'))
    (tmp_path / "host.mjs").write_text(
        """
        import plugin from "./plugin.mjs";
        const hooks = {};
        const ctx = { session: { hook: async (name, callback) => (hooks[name] = callback) } };
        await plugin.setup(ctx);
        const said = (role, text) => ({ role, content: [{ type: "text", text }] });
        for (const _ of [1, 2]) {
          const messages = [said("user", "Hi"), said("assistant", "Hello"), said("user", "A boat?")];
          await hooks.context({ sessionID: "s1", messages });
          console.log(JSON.stringify(messages.at(-1).content));
        }
        """
    )
    done = subprocess.run(
        ["node", str(tmp_path / "host.mjs")], capture_output=True, text=True, check=True, timeout=60
    )
    parts = [
        {"type": "text", "text": "A boat?"},
        {"type": "text", "text": "Ruth lends boats."},
    ]
    assert [json.loads(line) for line in done.stdout.splitlines()] == [parts, parts]
    assert (tmp_path / "calls").read_text().splitlines() == [
        "recall",
        "capture --background --trust known",
    ]
    given = (tmp_path / "given").read_text()
    assert given.startswith("A boat?{")
    assert json.loads(given.removeprefix("A boat?"))["messages"][1] == {
        "role": "assistant",
        "content": "Hello",
    }
