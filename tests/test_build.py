"""build.sh: what it says on a machine that lacks something, and that it makes everything in a fresh clone."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from conftest import IN_CI, ROOT, inherited_environment, load_build_script, run_process

pytestmark = pytest.mark.skipif(not shutil.which("sh"), reason="needs a POSIX shell")
TOOLS = ["sh", "dirname", "sed", "cat", "tr", "grep", "mv", "uname", "env"]
parse_group = load_build_script("requirements").parse_group
BRIEF = "A fictional field service team schedules equipment inspections and tracks visits."


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What git would give a stranger, in a folder whose name has a space."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    for name in ("build.sh", "protoyard.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / ".build", folder / ".build", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH that has the shell's tools and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        (folder / name).symlink_to(shutil.which(name))
    return folder


def write_fake_python(path: Path, script: str) -> None:
    """A program called python3; `$*` holds what it is asked."""
    path.write_text(f"#!{shutil.which('sh')}\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


NO_VENV = 'case "$*" in *ensurepip*) exit 1;; esac'
# fmt: off
LACKS = {
    "no Python at all":              (None,       {}, "no Python 3.9 or newer found"),
    "a shim that fails":             ("exit 127", {}, "no Python 3.9 or newer found"),
    "a Python without venv":         (NO_VENV,    {}, "apt-get install python3-venv"),
    "a PYTHON that is not there":    (None,       {"PYTHON": "/none/python"}, "is no Python 3.9"),
    "a PYTHON without venv":         (NO_VENV,    {"PYTHON": "python3"}, "has no venv and ensurepip"),
}
# fmt: on


@pytest.mark.parametrize(("script", "settings", "said"), LACKS.values(), ids=LACKS)
def test_what_is_missing_is_said(
    script: str | None, settings: dict[str, str], said: str, clone: Path, tools: Path
) -> None:
    if script:
        write_fake_python(tools / "python3", script)
    env = {"PATH": str(tools), "HOME": str(tools), **settings}
    for arguments in ([], ["test"]):
        ran = run_process([clone / "build.sh", *arguments], env=env)
        assert ran.status == 1
        assert said in ran.err
        assert ran.err.startswith("build.sh: ")
    assert not (clone / "protoyard.pyz").exists()


def test_a_missing_package_index_is_said(clone: Path) -> None:
    env = inherited_environment(PYTHON=sys.executable, PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    ran = run_process([clone / "build.sh"], env=env)
    assert ran.status == 1
    assert "a package index is needed once" in ran.err
    assert not (clone / "protoyard.pyz").exists()


def test_an_unknown_command_shows_the_usage(clone: Path) -> None:
    ran = run_process([clone / "build.sh", "tset"])
    assert ran.status == 2
    assert "./build.sh test" in ran.err
    assert not (clone / ".venv").exists()


# The group is installed from an index, which a plain test run should not need.
@pytest.mark.skipif(not IN_CI, reason="needs a package index; runs in CI")
def test_a_fresh_clone_builds_and_runs_and_builds_again_without_an_index(clone: Path, tmp_path: Path) -> None:
    first = run_process([clone / "build.sh"], cwd=tmp_path, timeout=300)
    assert first.status == 0, first.err
    assert "it runs: protoyard" in first.out
    archive = clone / "protoyard.pyz"
    data = archive.read_bytes()
    made = run_process([archive, "quick", BRIEF, "--seed", "42", "--variants", "2"], cwd=tmp_path)
    assert made.status == 0, made.err
    assert [page.parent.name for page in sorted(tmp_path.glob("prototypes/*/?/index.html"))] == ["a", "b"]
    archive.unlink()
    again = run_process([clone / "build.sh"], env=inherited_environment(PIP_NO_INDEX="1"), timeout=300)
    assert again.status == 0, again.err
    assert "installing" not in again.out
    assert archive.read_bytes() == data


# Dependency groups are read without tomllib, so what is read is held to tomllib where there is one.


def test_the_groups_are_read_as_toml_means_them() -> None:
    tomllib = pytest.importorskip("tomllib")
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    groups = tomllib.loads(text)["dependency-groups"]
    assert set(groups) == {"dev", "interop"}
    for name, wanted in groups.items():
        assert parse_group(text, name) == wanted


GROUPS = {
    "on one line": 'a = ["x==1", "y[z]>=2"]',
    "on many, with comments": 'a = [\n    "x==1",  # why\n    # what\n    "y[z]>=2",\n]',
    "after another group": 'b = ["q"]\na = ["x==1", "y[z]>=2"]',
}


@pytest.mark.parametrize("text", GROUPS.values(), ids=GROUPS)
def test_a_group_may_be_written(text: str) -> None:
    project = f'[project]\na = ["wrong"]\n\n[dependency-groups]\n{text}\n\n[tool]\na = ["wrong too"]\n'
    assert parse_group(project, "a") == ["x==1", "y[z]>=2"]
    with pytest.raises(KeyError):
        parse_group(project, "tool")


# In CI nothing may be skipped

SKIPPING = """
import pytest
def test_passes(): pass
def test_skips(): pytest.skip("reason one")
@pytest.mark.skip(reason="reason two")
def test_is_marked(): pass
@pytest.mark.xfail
def test_is_known_to_fail(): assert 0
"""
SKIPPED_FILE = "import pytest\npytest.importorskip('there_is_no_such_module')\n"


def run_tests(folder: Path, **env: str) -> str:
    """The output of a run of that folder's tests under this project's conftest."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-rA",
        "--continue-on-collection-errors",
    ]
    options = ["-c", ROOT / "pyproject.toml", "--rootdir", folder, "-p", "conftest", folder]
    found = os.pathsep.join([str(ROOT / "tests")])
    return run_process([*command, *options], env=inherited_environment(PYTHONPATH=found, **env)).out


def test_a_skip_is_a_failure_in_ci_and_only_there(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(SKIPPING, encoding="utf-8")
    (tmp_path / "test_two.py").write_text(SKIPPED_FILE, encoding="utf-8")
    relaxed = run_tests(tmp_path)
    assert re.search(r"^=+ 1 passed, 3 skipped, 1 xfailed in ", relaxed, re.M), relaxed
    strict = run_tests(tmp_path, PROTOYARD_CI="1")
    assert re.search(r"^=+ 1 failed, 1 passed, 1 xfailed, 2 errors in ", strict, re.M), strict
    for reason in ("Skipped: reason one", "Skipped: reason two", "Skipped: could not import"):
        assert f"nothing may be skipped in CI: {reason}" in strict
