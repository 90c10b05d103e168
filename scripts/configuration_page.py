"""Write the table of docs/configuration.md from `kgagent.Settings`.

python scripts/configuration_page.py            writes it
python scripts/configuration_page.py --check    fails where it is out of date
"""

import sys

from _generated import bring_up_to_date, cell, kind_of
from pydantic import AliasChoices

from kgagent import Settings

HEAD = "| variable | type | unless set | meaning |\n| --- | --- | --- | --- |\n"


def main() -> int:
    """Write or check."""
    schema = Settings.model_json_schema(by_alias=False)
    rows = []
    for name, setting in schema["properties"].items():
        default = setting.get("default")
        shown = "" if default is None else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        kind = cell(kind_of(setting, schema.get("$defs", {})))
        rows.append(f"| `{_variable(name)}` | {kind} | {shown} | {cell(setting.get('description', ''))} |\n")
    return bring_up_to_date("configuration.md", HEAD + "".join(rows), "configuration_page.py")


def _variable(name: str) -> str:
    """The environment variable of a setting."""
    alias = Settings.model_fields[name].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"KGAGENT_{name.upper()}"


if __name__ == "__main__":
    sys.exit(main())
