"""Write the synchronous classes from the asynchronous ones.

python scripts/generate_sync.py            writes them
python scripts/generate_sync.py --check    fails where they are out of date
"""

import ast
import builtins
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
COMMAND = "python scripts/generate_sync.py"

SYNC_NAMES = {
    "KnowledgeGraph": "SyncKnowledgeGraph",
    "RetrievalService": "SyncRetrieval",
    "Searcher": "SyncSearcher",
    "Toolset": "SyncToolset",
    "BoundTool": "SyncTool",
    "OpenAITools": "SyncOpenAITools",
}
"""The synchronous class of each asynchronous one; a method that returns the latter returns the
former, wrapped.
"""

BUILT_IN = {"__iter__": "iter", "__len__": "len"}
"""The built-in function that calls a special method."""


MAX_DOCSTRING = 106
"""Characters of a docstring that leave room for its indentation and quotes."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Face:
    """A synchronous class to generate.

    Attributes:
        module: where the asynchronous class is defined.
        name: of the asynchronous class.
        summary: docstring of the synchronous class.
        omitted: public names that the synchronous class does not have.
        bases: of the synchronous class; default: the wrapper.
        code: members that are written by hand.
        imports: what `code` and `bases` need, as `module.name`.
    """

    module: str
    name: str
    summary: str
    omitted: frozenset[str] = frozenset()
    bases: Sequence[str] = ()
    code: str = ""
    imports: Sequence[str] = ()

    @property
    def sync_name(self) -> str:
        """Name of the synchronous class."""
        return SYNC_NAMES[self.name]


@dataclass(frozen=True)
class GeneratedModule:
    """A module to generate.

    Attributes:
        path: below `src`.
        summary: docstring of the module.
        faces: its classes.
    """

    path: str
    summary: str
    faces: Sequence[Face]


GRAPH_CODE = '''
@property
def graph(self) -> KnowledgeGraph:
    """The asynchronous graph."""
    return self._wrapped
'''

OPENAI_CODE = '''
def __init__(self, tools: Mapping[str, SyncTool], *, names: Sequence[str] | None = None) -> None:
    """Choose tools.

    Args:
        tools: the tools of a `SyncKnowledgeGraph`, bound to a user. Without names, the toolsets with which they
            were made are offered, else those of the graph's settings, by default "core".
        names: names of the tools to offer, instead of toolsets.

    Raises:
        ConfigurationError: a name is unknown, or the tools are those of a `KnowledgeGraph`.
    """
    wrapped, portal = unwrap_tools(choose_tools(tools, names))
    super().__init__(OpenAITools(wrapped), portal)
'''

MODULES = (
    GeneratedModule(
        "kgagent/sync.py",
        "The knowledge graph for synchronous code: the same operations, and each call waits for "
        "its result.",
        (
            Face(
                "kgagent.knowledge_graph",
                "KnowledgeGraph",
                "A knowledge graph in Neo4j for synchronous code: `with "
                "SyncKnowledgeGraph.connect() as graph`.\n\n"
                "An event loop in a thread of its own does the work, so the graph may be used from "
                "any thread. Its\n"
                "operations are those of `KnowledgeGraph`.",
                omitted=frozenset({"close", "loop"}),
                bases=("BlockingResource[KnowledgeGraph]",),
                code=GRAPH_CODE,
                imports=("kgagent.blocking.BlockingResource",),
            ),
            Face(
                "kgagent.search.service",
                "RetrievalService",
                "Single searches; each call waits for its result.",
                omitted=frozenset({"observer", "scope", "embed_queries", "nodes"}),
            ),
            Face(
                "kgagent.search.searchers",
                "Searcher",
                "A search for nodes, bound to one user; each call waits for its result.",
            ),
            Face(
                "kgagent.tools.base",
                "BoundTool",
                "A tool bound to one user; each call waits for its result.",
            ),
            Face(
                "kgagent.tools.registry",
                "Toolset",
                'The agent\'s tools, bound to one user: `tools.explore(queries=[{"query": '
                '"mentors"}])`.',
                bases=("BlockingWrapper[Toolset]", "Mapping[str, SyncTool]"),
                imports=("kgagent.blocking.BlockingWrapper", "collections.abc.Mapping"),
            ),
        ),
    ),
    GeneratedModule(
        "kgagent/adapters/openai/sync.py",
        "The tools of a `SyncKnowledgeGraph` for OpenAI's models.",
        (
            Face(
                "kgagent.adapters.openai.tools",
                "OpenAITools",
                "The tools of a `SyncKnowledgeGraph` as functions: as `OpenAITools`, and each call "
                "waits.",
                code=OPENAI_CODE,
                imports=(
                    "collections.abc.Mapping",
                    "collections.abc.Sequence",
                    "kgagent.adapters.openai.tools.OpenAITools",
                    "kgagent.sync.SyncTool",
                    "kgagent.adapters.chosen_tools.choose_tools",
                    "kgagent.adapters.openai.tools.unwrap_tools",
                ),
            ),
        ),
    ),
)


def main() -> int:
    """Write or check."""
    stale = []
    for module in MODULES:
        path, text = SOURCE / module.path, generated(module)
        if "--check" not in sys.argv[1:]:
            path.write_text(text, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            stale.append(module.path)
    for name in stale:
        print(f"src/{name} is out of date: run {COMMAND}")
    return int(bool(stale))


def generated(module: GeneratedModule) -> str:
    """The text of a module."""
    own = {face.sync_name for face in module.faces}
    classes = [_Class(face) for face in module.faces]
    at_run_time = set().union(*(one.needed for one in classes))
    for_types = set().union(*(one.needed_by_types for one in classes)) - at_run_time
    lines = [
        f'"""{module.summary}\n\nGenerated by {COMMAND}; do not edit.\n"""',
        "from __future__ import annotations",
        *_import_lines(at_run_time, own),
        "from typing import TYPE_CHECKING",
        "if TYPE_CHECKING:",
        *(f"    {line}" for line in _import_lines(for_types, own) or ["pass"]),
        *(one.text for one in classes),
    ]
    return _formatted("\n".join(lines) + "\n", module.path)


def _import_lines(places: set[str], own: set[str]) -> list[str]:
    # Two modules may import a name from a package and from a module of it.
    modules = {
        name: module
        for module, _, name in (place.rpartition(".") for place in sorted(places, reverse=True))
    }
    return [f"from {module} import {name}" for name, module in modules.items() if name not in own]


def _formatted(text: str, path: str) -> str:
    for arguments in (
        ["check", "--fix-only", "--select", "I,F401,TC001,TC003,TC005", "--unsafe-fixes"],
        ["format"],
    ):
        command = [
            sys.executable,
            "-m",
            "ruff",
            *arguments,
            "--quiet",
            "--stdin-filename",
            str(SOURCE / path),
            "-",
        ]
        text = subprocess.run(  # noqa: S603 - the linter of this environment
            command, input=text, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return text


@dataclass
class _Class:
    """The text of a synchronous class and what it needs.

    Attributes:
        face: what to generate.
        needed: names that are needed at run time, each as `module.name`.
        needed_by_types: names that annotations need.
    """

    face: Face
    needed: set[str] = field(default_factory=set)
    needed_by_types: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        face = self.face
        self.needed |= {*face.imports}
        if not face.bases:
            self.needed.add("kgagent.blocking.BlockingWrapper")
        bases = face.bases or (f"BlockingWrapper[{face.name}]",)
        self.needed.add(f"{face.module}.{face.name}")
        header = f"class {face.sync_name}({', '.join(bases)}):"
        docstring = '"""' + face.summary + ('\n"""' if "\n" in face.summary else '"""')
        members = [docstring, face.code, *self._members()]
        self.text = header + "".join(f"\n{_indented(member)}\n" for member in members if member)

    def _members(self) -> Iterator[str]:
        handmade = {
            node.name
            for node in ast.parse(self.face.code).body
            if isinstance(node, ast.FunctionDef)
        }
        done = handmade | self.face.omitted
        for names, definition in _definitions(self.face):
            for name, annotation, text in _attributes(definition):
                if name not in done:
                    done.add(name)
                    yield self._attribute(name, annotation, text, names)
            for node in definition.body:
                if isinstance(node, _FUNCTIONS) and _is_public(node.name) and node.name not in done:
                    done.add(node.name)
                    yield self._method(node, names)

    def _attribute(self, name: str, annotation: ast.expr, text: str, names: "_Names") -> str:
        kind, sync_name = self._annotation(annotation, names)
        body = f"self._wrapped.{name}"
        if sync_name:
            body = f"{sync_name}({body}, self._portal)"
        return f'@property\ndef {name}(self) -> {kind}:\n    """{text}"""\n    return {body}\n'

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef, names: "_Names") -> str:
        is_property = any(ast.unparse(decorator) == "property" for decorator in node.decorator_list)
        signature = self._signature(node, names)
        docstring = _docstring(node, self.face.name)
        if node.returns is None:
            raise SystemExit(f"{self.face.name}.{node.name} has no type of its result")
        passed = ", ".join(_passed(signature))
        if node.name == "connect":
            return self._connect(signature, docstring, passed)
        kind, sync_name = self._annotation(node.returns, names)
        target = f"self._wrapped.{node.name}" if node.name != "__call__" else "self._wrapped"
        value = target if is_property else f"{target}({passed})"
        if isinstance(node, ast.AsyncFunctionDef):
            value = f"self._wait({target}{', ' if passed else ''}{passed})"
        elif node.name in BUILT_IN:
            value = f"{BUILT_IN[node.name]}(self._wrapped)"
        if sync_name:
            value = f"{sync_name}({value}, self._portal)"
        lines = [f"def {node.name}({ast.unparse(signature)}) -> {kind}:", f"    {docstring}"]
        if node.name == "__getattr__":
            lines += ['    if name.startswith("_"):', "        raise AttributeError(name)"]
        if is_property:
            lines.insert(0, "@property")
        return "\n".join([*lines, f"    return {value}"]) + "\n"

    def _signature(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, names: "_Names"
    ) -> ast.arguments:
        signature = node.args
        for default in (*signature.defaults, *filter(None, signature.kw_defaults)):
            self.needed |= names.resolved(default)
        for argument in _all_arguments(signature):
            if argument.annotation is not None:
                argument.annotation = ast.parse(
                    self._annotation(argument.annotation, names)[0], mode="eval"
                ).body
        return signature

    def _connect(self, signature: ast.arguments, docstring: str, passed: str) -> str:
        signature.args.insert(0, ast.arg("cls"))
        self.needed.add("typing.Self")
        body = f"return cls._open({self.face.name}.connect, {passed})"
        return f"@classmethod\ndef connect({ast.unparse(signature)}) -> Self:\n    {docstring}\n    {body}\n"

    def _annotation(self, annotation: ast.expr, names: "_Names") -> tuple[str, str | None]:
        """The text of an annotation, and the synchronous class that stands for it."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        text = ast.unparse(annotation)
        if text in SYNC_NAMES:
            return SYNC_NAMES[text], SYNC_NAMES[text]
        self.needed_by_types |= names.resolved(annotation)
        return text, None


class _Names:
    """The names of a module, each with the place where it is defined."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self._places: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                self._places |= {
                    alias.asname or alias.name: f"{node.module}.{alias.name}"
                    for alias in node.names
                }
        for statement in tree.body:
            if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self._places[statement.name] = f"{module}.{statement.name}"
            elif isinstance(statement, ast.Assign | ast.AnnAssign):
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                )
                self._places |= {
                    one.id: f"{module}.{one.id}" for one in targets if isinstance(one, ast.Name)
                }

    def place(self, expression: ast.expr) -> str:
        """The place of a name, without type arguments; empty for a built-in one."""
        name = expression.value if isinstance(expression, ast.Subscript) else expression
        return self._places.get(name.id, "") if isinstance(name, ast.Name) else ""

    def resolved(self, expression: ast.expr) -> set[str]:
        """The places of the names in an expression."""
        names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
        return {self._places[name] for name in names if not hasattr(builtins, name)}


def _definitions(face: Face) -> Iterator[tuple[_Names, ast.ClassDef]]:
    """The class and its bases in kgagent; nothing is imported, as a module that is generated may be
    out of date.
    """
    module, name = face.module, face.name
    while module.startswith("kgagent."):
        tree = ast.parse((SOURCE / f"{module.replace('.', '/')}.py").read_text("utf-8"))
        names = _Names(module, tree)
        [definition] = [
            node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name
        ]
        yield names, definition
        bases = [names.place(base) for base in definition.bases]
        module, _, name = next(
            (base for base in bases if base.startswith("kgagent.")), ""
        ).rpartition(".")


def _attributes(definition: ast.ClassDef) -> Iterator[tuple[str, ast.expr, str]]:
    """Public attributes that `__init__` sets: name, annotation and what the docstring of the class
    says of each.
    """
    texts = _attribute_texts(ast.get_docstring(definition) or "")
    for method in definition.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            parameters = {one.arg: one.annotation for one in _all_arguments(method.args)}
            for node in method.body:
                target: ast.expr | None = node.target if isinstance(node, ast.AnnAssign) else None
                annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                    target, annotation = node.targets[0], parameters.get(node.value.id)
                if (
                    isinstance(target, ast.Attribute)
                    and annotation is not None
                    and _is_public(target.attr)
                ):
                    yield (
                        target.attr,
                        annotation,
                        texts.get(target.attr, f"The {target.attr.replace('_', ' ')}."),
                    )


def _attribute_texts(docstring: str) -> dict[str, str]:
    _, _, section = docstring.partition("Attributes:\n")
    lines = [line.strip().partition(": ") for line in section.partition("\n\n")[0].splitlines()]
    return {
        name: f"{text[:1].upper()}{text[1:]}"
        for name, colon, text in lines
        if colon and name.isidentifier()
    }


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in {
        "__call__",
        "__getitem__",
        "__getattr__",
        "__iter__",
        "__len__",
    }


def _all_arguments(signature: ast.arguments) -> list[ast.arg]:
    variadic = [one for one in (signature.vararg, signature.kwarg) if one is not None]
    return [*signature.posonlyargs, *signature.args, *signature.kwonlyargs, *variadic]


def _passed(signature: ast.arguments) -> Iterator[str]:
    """The arguments of a call, passed on."""
    for argument in (*signature.posonlyargs, *signature.args):
        if argument.arg not in {"self", "cls"}:
            yield argument.arg
    if signature.vararg is not None:
        yield f"*{signature.vararg.arg}"
    for argument in signature.kwonlyargs:
        yield f"{argument.arg}={argument.arg}"
    if signature.kwarg is not None:
        yield f"**{signature.kwarg.arg}"


def _docstring(node: ast.FunctionDef | ast.AsyncFunctionDef, class_name: str) -> str:
    """The first line of a docstring, and where the rest of it is."""
    summary, _, more = (ast.get_docstring(node) or "").partition("\n")
    summary = summary.replace(
        "`await` the result, or enter it with `async with`", "enter it with `with`"
    )
    if more:
        summary = f"{summary.rstrip('.')}; see `{class_name}.{node.name}`."
        if len(summary) > MAX_DOCSTRING:
            summary = f"See `{class_name}.{node.name}`."
    return f'"""{summary}"""'


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line.strip() else "" for line in text.strip("\n").split("\n"))


if __name__ == "__main__":
    sys.exit(main())
