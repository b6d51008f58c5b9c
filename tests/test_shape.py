"""The shape of the module: sections, layers, purity, the way of a request, sizes, docstrings, annotations."""

from __future__ import annotations

import ast
import pathlib
import re
import statistics
import subprocess
import symtable
import sys

import pytest

MODULE = pathlib.Path(__file__).resolve().parent.parent / "protoyard.py"
SOURCE = MODULE.read_text("utf-8")
LINES = SOURCE.splitlines()
TREE = ast.parse(SOURCE)
BANNER = re.compile(r"^# §(\d\d) (\w+): (.+)$")
RULES = re.compile(r"^# Rules: uses (?P<uses>[^;.]+)(?P<rest>.*)$")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
SECTIONS = [(number, BANNER.match(line)) for number, line in enumerate(LINES, 1) if BANNER.match(line)]
NAMES = {match[1]: match[2] for _, match in SECTIONS}
ORDER = (
    "00 head,01 limits,02 errors,03 text,04 schema,05 calls,06 workspace,07 blueprint,08 archetypes,09 brief,"
    "10 records,11 page,12 store,13 handover,14 browser,15 operations,16 cli,17 protocol,18 server,"
    "19 machine,20 main"
)
PURE = [
    "head",
    "limits",
    "errors",
    "text",
    "schema",
    "blueprint",
    "archetypes",
    "brief",
    "records",
    "page",
    "protocol",
]
IMPURE_NAMES = {"os", "time", "threading", "open", "input", "print"}
IMPURE_IMPORTS = {
    "random",
    "subprocess",
    "signal",
    "select",
    "shutil",
    "tempfile",
    "socket",
    "secrets",
    "pathlib",
}
HEAVY_IMPORTS = [
    "argparse",
    "dataclasses",
    "datetime",
    "difflib",
    "hashlib",
    "inspect",
    "random",
    "shutil",
    "subprocess",
    "tempfile",
    "zipfile",
]


def section_of(line: int) -> str:
    return [match[1] for start, match in SECTIONS if start <= line][-1]


def rules_of(section: str) -> str:
    start = next(number for number, match in SECTIONS if match[1] == section)
    text = []
    for line in LINES[start + 1 :]:
        if not line.startswith("# "):
            break
        text.append(line[2:])
    return " ".join(text)


def allowed_uses(section: str) -> set[str]:
    uses = RULES.match("# " + rules_of(section))["uses"]
    if "all" in uses:
        return set(NAMES)
    found: set[str] = set()
    for first, last in re.findall(r"§?(\d\d)(?:-(\d\d))?", uses):
        found |= {f"{number:02}" for number in range(int(first), int(last or first) + 1)}
    return found


def top_level_names() -> dict[str, int]:
    names: dict[str, int] = {}
    for node in TREE.body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names.setdefault(node.name, node.lineno)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for name in ast.walk(target) if target is not None else ():
                if isinstance(name, ast.Name):
                    names.setdefault(name.id, node.lineno)
    return names


def globals_used(node: ast.stmt) -> set[str]:
    """The module-level names that one top-level statement refers to, annotations left out."""
    lines = LINES[
        min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1 : node.end_lineno
    ]
    table = symtable.symtable("from __future__ import annotations\n" + "\n".join(lines), str(MODULE), "exec")
    tables, used = [table], set()
    while tables:
        scope = tables.pop()
        tables += scope.get_children()
        for symbol in scope.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or scope.get_type() == "module"):
                used.add(symbol.get_name())
    return used


def functions() -> list[ast.FunctionDef]:
    return [node for node in ast.walk(TREE) if isinstance(node, FUNCTIONS)]


def docstring_lines(node: ast.AST) -> set[int]:
    lines: set[int] = set()
    for inner in ast.walk(node):
        if isinstance(inner, (*FUNCTIONS, ast.ClassDef)) and ast.get_docstring(inner) is not None:
            lines |= set(range(inner.body[0].lineno, inner.body[0].end_lineno + 1))
    return lines


def length(node: ast.FunctionDef) -> int:
    return node.end_lineno - node.lineno + 1 - len(docstring_lines(node))


def nesting(node: ast.AST, depth: int = 0) -> int:
    deepest = depth
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, nesting(child, depth + (isinstance(child, BLOCKS) and not is_elif)))
    return deepest


def public() -> list[ast.AST]:
    kinds = (*FUNCTIONS, ast.ClassDef)
    found = [node for node in TREE.body if isinstance(node, kinds) and not node.name.startswith("_")]
    for owner in [
        node for node in TREE.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]:
        found += [
            node for node in owner.body if isinstance(node, FUNCTIONS) and not node.name.startswith("_")
        ]
    return found


def test_the_sections_that_exist_stand_in_the_order_of_the_house():
    found = [f"{match[1]} {match[2]}" for _, match in SECTIONS]
    assert found == [name for name in ORDER.split(",") if name in found]
    assert {"00 head", "15 operations", "17 protocol", "18 server", "20 main"} <= set(found)


@pytest.mark.parametrize("section", [match[1] for _, match in SECTIONS if match[1] not in ("00", "01")])
def test_a_section_opens_with_its_rules_and_keeps_to_what_they_allow(section):
    allowed = allowed_uses(section) | {section, "00"}
    names = top_level_names()
    uses: dict[str, set[str]] = {}
    for node in TREE.body:
        if section_of(node.lineno) == section:
            for name in globals_used(node) & set(names):
                uses.setdefault(section_of(names[name]), set()).add(name)
    assert {used: found for used, found in uses.items() if used not in allowed} == {}


@pytest.mark.parametrize("section", sorted(NAMES, key=int))
def test_a_section_is_pure_exactly_where_the_house_says_so(section):
    says_pure = bool(re.search(r"\bpure\b", rules_of(section)))
    assert says_pure == (NAMES[section] in PURE) or section in ("00", "01", "02")
    if NAMES[section] not in PURE or section == "00":
        return
    for node in TREE.body:
        if section_of(node.lineno) != section:
            continue
        assert not globals_used(node) & IMPURE_NAMES, f"line {node.lineno}"
        for inner in ast.walk(node):
            modules = [a.name for a in inner.names] if isinstance(inner, ast.Import) else []
            modules += [inner.module] if isinstance(inner, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in modules} & IMPURE_IMPORTS, f"line {inner.lineno}"


def test_no_name_is_given_twice_in_one_module():
    given: dict[str, list[int]] = {}
    for node in TREE.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [
            name.id for target in targets if target for name in ast.walk(target) if isinstance(name, ast.Name)
        ]
        for name in [*names, *([node.name] if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else [])]:
            given.setdefault(name, []).append(node.lineno)
    assert {name: lines for name, lines in given.items() if len(lines) > 1} == {}


def test_functions_are_short():
    lengths = sorted(length(node) for node in functions())
    assert statistics.median(lengths) <= 10
    assert lengths[int(len(lengths) * 0.9)] <= 35
    assert {node.name: length(node) for node in functions() if length(node) > 70} == {}


def test_functions_are_flat():
    assert {node.name: nesting(node) for node in functions() if nesting(node) > 4} == {}


def lines_of_code() -> int:
    """Lines that hold code: not blank, no comment, no docstring, no table or asset at module level."""
    bare = {
        number for number, line in enumerate(LINES, 1) if line.strip() and not line.lstrip().startswith("#")
    }
    bare -= docstring_lines(TREE)
    for node in TREE.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            bare -= set(range(node.lineno + 1, node.end_lineno + 1))
    return len(bare)


def test_the_module_stays_small_enough_to_be_read():
    assert lines_of_code() <= 5800


def test_everything_public_has_a_docstring():
    assert [node.name for node in public() if not ast.get_docstring(node)] == []


def test_everything_is_annotated():
    bare = []
    for node in functions():
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        missing = [a.arg for a in arguments if a.arg not in ("self", "cls") and a.annotation is None]
        if missing or node.returns is None:
            bare.append((node.name, node.lineno, missing))
    assert bare == []


def test_the_way_of_one_request_is_told_in_the_head_and_marked_at_every_hop():
    told = re.findall(r"(\d)/9 +(?:\w+\.)?(\w+)", ast.get_docstring(TREE))
    assert {int(hop) for hop, _ in told} == set(range(1, 10))
    marked = {
        (found[1], node.name)
        for node in ast.walk(TREE)
        if isinstance(node, FUNCTIONS)
        for found in [re.match(r"\[(\d)/9\]", ast.get_docstring(node) or "")]
        if found
    }
    assert marked == set(told)


def test_old_pythons_can_parse_the_module_to_read_its_one_line():
    for node in ast.walk(TREE):
        assert type(node).__name__ not in ("NamedExpr", "Match"), f"line {node.lineno}"
        assert not getattr(node, "posonlyargs", None)


def test_a_start_imports_nothing_heavy():
    code = f"import sys; sys.path.insert(0, {str(MODULE.parent)!r}); import protoyard; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True
    )
    assert set(done.stdout.split()) & set(HEAVY_IMPORTS) - set(bare.stdout.split()) == set()


def test_the_top_level_of_the_repository_is_fixed():
    allowed = {"pyproject.toml", "protoyard.py", "tests", "build.sh", "README.md", "LICENSE"}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=MODULE.parent, capture_output=True, text=True
    ).stdout.split("\n")
    tops = {name.split("/")[0] for name in tracked if name}
    assert {name for name in tops if not name.startswith(".")} <= allowed
