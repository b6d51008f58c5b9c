"""Prints the requirements of dependency groups in pyproject.toml, one a line: `requirements.py GROUP…`.

tomllib came with Python 3.11 and pip's own `--group` with 25.1; the build also works without both. A group
is a list of strings, which TOML and Python write alike.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def parse_group(text: str, name: str) -> list[str]:
    """The requirements of one group of a pyproject.toml; KeyError for a group that is not there."""
    section = re.search(r"^\[dependency-groups\]$(.*?)(?=^\[|\Z)", text, re.M | re.S)
    group = section and re.search(rf"^{re.escape(name)}\s*=\s*(\[.*?\])\s*$", section.group(1), re.M | re.S)
    if not group:
        raise KeyError(name)
    return [str(requirement) for requirement in ast.literal_eval(group.group(1))]


if __name__ == "__main__":
    project = PROJECT.read_text(encoding="utf-8")
    print("\n".join(requirement for name in sys.argv[1:] for requirement in parse_group(project, name)))
