"""Write the signatures in docs/python.md from `kgagent.KnowledgeGraph`.

python scripts/python_page.py            writes the page
python scripts/python_page.py --check    fails if the page is out of date
"""

import ast
import inspect
import sys
from collections.abc import Iterator

from _generated import cell, update_page

from kgagent import KnowledgeGraph

HEAD = "| method | arguments | returns | purpose |\n| --- | --- | --- | --- |\n"


def main() -> int:
    """Write the page or check it."""
    return update_page("python.md", HEAD + "".join(_rows()), "python_page.py")


def _rows() -> Iterator[str]:
    [definition] = ast.parse(inspect.getsource(KnowledgeGraph)).body
    for method in definition.body if isinstance(definition, ast.ClassDef) else ():
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_hidden(method):
            result = ast.unparse(method.returns).strip("'") if method.returns else ""
            purpose = (ast.get_docstring(method) or "").partition("\n")[0]
            yield f"| `{method.name}` | {_arguments(method.args)} | `{cell(result)}` | {cell(purpose)} |\n"


def _is_hidden(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    is_property = any(ast.unparse(decorator) == "property" for decorator in method.decorator_list)
    return method.name.startswith("_") or is_property


def _arguments(arguments: ast.arguments) -> str:
    """The names of the arguments, with their defaults; a `*` precedes those that must be named."""
    missing = [None] * (len(arguments.args) - len(arguments.defaults))
    positional = [*zip(arguments.args, [*missing, *arguments.defaults], strict=True)]
    named = [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    parts = [_argument(*one) for one in positional if one[0].arg != "self"]
    parts += [*(["`*`"] if named else []), *(_argument(*one) for one in named)]
    return ", ".join([*parts, *([f"`**{arguments.kwarg.arg}`"] if arguments.kwarg else [])])


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return f"`{argument.arg}`" if default is None else f"`{argument.arg}={ast.unparse(default)}`"


if __name__ == "__main__":
    sys.exit(main())
