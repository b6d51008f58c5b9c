"""The archive: what is in it, that equal sources give equal bytes, and that it starts wherever it is put."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    ALL_PYTHONS,
    BUILDER,
    INTERPRETERS,
    MODULE,
    PYTHONS,
    ROOT,
    Ran,
    Server,
    bare_environment,
    build_request,
    inherited_environment,
    run_process,
    serve_lines,
)

LISTING = build_request(1, "tools/list")
IS_POSIX = os.name == "posix"
IS_ROOT = IS_POSIX and os.geteuid() == 0


def read_members(archive: Path) -> dict[str, bytes]:
    """Every member of an archive, in its order."""
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def write_variant(pyz: Path, output: Path, **changes: bytes | None) -> Path:
    """A copy of the archive with other members of a kind (`code`, `source`); None leaves them out."""
    kinds = {"code/": changes.get("code", b""), "site-packages/": changes.get("source", b"")}
    members = read_members(pyz)
    for name in list(members):
        kind = kinds.get(name.split("/")[0] + "/", b"")
        if kind is None:
            del members[name]
        elif kind:
            members[name] = kind
    output.write_bytes(BUILDER.render_archive(f"#!{BUILDER.SHEBANG}\n".encode(), members))
    output.chmod(0o755)
    return output


def check_listing(ran: Ran) -> None:
    """One line, the answer to LISTING, and not a word more."""
    assert ran.stderr == b""
    assert ran.status == 0
    (answer,) = ran.messages
    assert answer["id"] == 1
    assert answer["result"]["tools"]


def start(python: str, archive: Any, *flags: str, **options: Any) -> Ran:
    """Start the archive as `python FLAGS archive mcp` with one request, in an empty environment."""
    options.setdefault("env", bare_environment())
    command = [python, *flags, archive, "mcp"]
    return run_process(command, stdin=json.dumps(LISTING).encode() + b"\n", **options)


# What is in it


def test_members_are_the_expected_ones_in_order_and_stored(pyz: Path) -> None:
    with zipfile.ZipFile(pyz) as archive:
        entries = archive.infolist()
        comment = archive.comment
    codes = sorted(f"code/{found.magic}" for found in INTERPRETERS)
    bootstrap = ["__init__", "environment", "filelock", "interpreter"]
    assert [entry.filename for entry in entries] == [
        "__main__.py",
        "environment.json",
        *(f"_bootstrap/{name}.py" for name in bootstrap),
        *codes,
        "site-packages/protoyard.py",
    ]
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {stat.S_IFREG | 0o644}
    assert {entry.create_system for entry in entries} == {3}
    assert comment == b""


def test_the_file_is_executable_and_names_python3_and_its_checksum_is_beside_it(pyz: Path) -> None:
    data = pyz.read_bytes()
    assert data.startswith(b"#!/usr/bin/env python3\nPK")
    checksum = pyz.with_name("protoyard.pyz.sha256").read_text(encoding="ascii")
    assert checksum == f"{hashlib.sha256(data).hexdigest()}  protoyard.pyz\n"
    if IS_POSIX:
        assert stat.S_IMODE(pyz.stat().st_mode) == 0o755


def test_it_holds_the_module_the_launcher_and_shiv_bootstrap_byte_for_byte(pyz: Path) -> None:
    members = read_members(pyz)
    shiv = Path(sysconfig.get_paths()["purelib"], "shiv", "bootstrap")
    assert members["site-packages/protoyard.py"] == MODULE.read_bytes()
    assert members["__main__.py"] == (ROOT / ".build" / "launcher.py").read_bytes()
    for file in shiv.glob("*.py"):
        assert members[f"_bootstrap/{file.name}"] == file.read_bytes()


def test_shiv_reads_it(pyz: Path) -> None:
    read = [sys.executable, "-W", "ignore", "-c", "from shiv.info import main; main()", "--json", pyz]
    info = run_process(read).envelope
    assert info["entry_point"] == "protoyard:main"
    assert info["shiv_version"] == BUILDER.SHIV
    assert info["reproducible"] is True


def test_shivs_own_door_still_opens(pyz: Path, python: str, tmp_path: Path) -> None:
    asked = run_process(
        [python, pyz, "-c", "import protoyard; print(protoyard.__file__)"],
        env=bare_environment(SHIV_INTERPRETER="1", SHIV_ROOT=str(tmp_path)),
    )
    assert asked.status == 0, asked.err
    assert Path(asked.out.strip()).is_relative_to(tmp_path)


@pytest.mark.parametrize("interpreter", INTERPRETERS, ids=lambda found: found.version)
def test_the_ready_code_is_what_its_interpreter_compiles(pyz: Path, interpreter: Any) -> None:
    ready = read_members(pyz)[f"code/{interpreter.magic}"]
    assert ready == BUILDER.compile_source(MODULE.read_bytes(), interpreter)


# The same bytes everywhere


def build_elsewhere(folder: Path, *arguments: str, umask: int = 0o022, **env: str) -> bytes:
    """Build from a copy of what the build reads, in another folder; the archive's bytes."""
    folder.mkdir()
    shutil.copytree(ROOT / ".build", folder / ".build", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(MODULE, folder / "protoyard.py")
    old = os.umask(umask)
    try:
        command = [sys.executable, folder / ".build" / "archive.py", *arguments]
        built = run_process(command, env=inherited_environment(**env), cwd=folder.parent)
    finally:
        os.umask(old)
    assert built.status == 0, built.err
    return (folder / "protoyard.pyz").read_bytes()


def test_folder_umask_zone_and_hash_seed_change_no_byte(pyz: Path, tmp_path: Path) -> None:
    folder = tmp_path / "another folder's name"
    env = {"TZ": "Asia/Kolkata", "PYTHONHASHSEED": "12345", "SOURCE_DATE_EPOCH": "0", "LC_ALL": "C"}
    assert build_elsewhere(folder, umask=0o077, **env) == pyz.read_bytes()


def test_without_ready_code_the_bytes_depend_on_the_source_alone(pyz: Path, tmp_path: Path) -> None:
    bare = build_elsewhere(tmp_path / "b", "--source-only", umask=0, PYTHONHASHSEED="1", TZ="UTC-9")
    assert bare == write_variant(pyz, tmp_path / "bare.pyz", code=None).read_bytes()


BROKEN = {
    "a module that does not parse": b"def main(:\n",
    "a module that cannot be imported": b"raise RuntimeError\n",
    "a module whose commands fail": b"def main():\n    return 1\n",
    "a module that serves nothing": b"def main():\n    print('protoyard 0')\n",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_a_failing_build_leaves_the_old_archive(source: bytes, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_bytes(source)
    output = tmp_path / "protoyard.pyz"
    output.write_bytes(b"the old one")
    built = run_process(
        [sys.executable, "-I", ROOT / ".build" / "archive.py", "--module", module, "--output", output]
    )
    assert built.status == 1
    assert "was not built" in built.err
    assert built.stdout == b""
    assert output.read_bytes() == b"the old one"
    assert sorted(os.listdir(tmp_path)) == ["module.py", "protoyard.pyz"]


# It starts

FLAGS = [[], ["-I"], ["-I", "-S"], ["-OO"], ["-bb"], ["-W", "error"], ["-X", "dev"]]


@pytest.mark.parametrize("python", ALL_PYTHONS.values(), ids=ALL_PYTHONS)
def test_every_interpreter_starts_it_with_any_flags_and_no_environment(python: str, pyz: Path) -> None:
    for flags in FLAGS:
        check_listing(start(python, pyz, *flags))


@pytest.mark.parametrize("python", ALL_PYTHONS.values(), ids=ALL_PYTHONS)
def test_a_ready_code_object_is_used_before_the_source(python: str, pyz: Path, tmp_path: Path) -> None:
    poisoned = write_variant(pyz, tmp_path / "p.pyz", source=b"raise SystemExit(9)\n")
    check_listing(start(python, poisoned))
    sourceless = write_variant(poisoned, tmp_path / "s.pyz", code=None)
    assert start(python, sourceless).status == 9


def test_an_interpreter_without_ready_code_compiles_the_source(
    python: str, pyz: Path, tmp_path: Path
) -> None:
    check_listing(start(python, write_variant(pyz, tmp_path / "bare.pyz", code=None)))


def test_damaged_code_is_noticed_and_the_source_used(python: str, pyz: Path, tmp_path: Path) -> None:
    magic = next(found.magic for found in INTERPRETERS if found.path == python)
    ready = read_members(pyz)[f"code/{magic}"]
    chance = random.Random(4)
    damaged = [b"", ready[:7], ready[:8], ready[:-1], ready + b"\0"]
    for _ in range(8):
        bit = chance.randrange(len(ready) * 8)
        flipped = bytearray(ready)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(flipped))
    for code in damaged:
        members = {**read_members(pyz), f"code/{magic}": code}
        archive = tmp_path / "damaged.pyz"
        archive.write_bytes(BUILDER.render_archive(b"", members))
        check_listing(start(python, archive))


def test_a_start_imports_little(python: str, pyz: Path) -> None:
    ran = start(python, pyz, "-I", "-S", "-X", "importtime")  # without what an installation's .pth files add
    imported = re.findall(r"^import time:.*\| +(\S+)$", ran.err, re.M)
    heavy = {"zipfile", "hashlib", "subprocess", "shutil", "tempfile", "inspect", "dataclasses"}
    assert len(ran.messages) == 1
    assert "json" in imported
    assert heavy & set(imported) == set()
    assert len(imported) <= 70


def test_a_start_needs_no_zlib(python: str, pyz: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['zlib'] = None\n", encoding="ascii")
    check_listing(start(python, pyz, env=bare_environment(PYTHONPATH=str(tmp_path))))


# A start writes nothing

WRITING = re.compile(r"O_CREAT|O_WRONLY|O_RDWR|\b(?:mkdir|rename|unlink|rmdir|link|symlink|chmod|mknod)\w*\(")


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_a_start_opens_nothing_for_writing(python: str, pyz: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    trace = ["strace", "-f", "-e", "trace=file", "-o", log]
    traced = run_process(
        [*trace, python, pyz, "mcp"], stdin=json.dumps(LISTING).encode() + b"\n", cwd=tmp_path
    )
    check_listing(traced)
    calls = log.read_text(encoding="utf-8", errors="replace").splitlines()
    assert len(calls) > 50
    assert [line for line in calls if WRITING.search(line) and '"/dev/' not in line] == []


HOMES = {
    "an empty home": "home",
    "a home that is not there": "/nonexistent",
    "a home that is a file": "file",
    "a home that is a relative path": "./somewhere",
    "a home that is the empty string": "",
}


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_no_home_is_needed_or_filled(home: str, pyz: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "file").write_bytes(b"")
    value = str(tmp_path / home) if home in ("home", "file") else home
    check_listing(start(PYTHONS[0], pyz, cwd=tmp_path, env=bare_environment(HOME=value)))
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["file", "home"]


@pytest.mark.skipif(not IS_POSIX, reason="POSIX limits")
@pytest.mark.parametrize(
    "limit", ["umask 000", "umask 777", "ulimit -f 0", "ulimit -n 8", "ulimit -v 100000", "ulimit -c 0"]
)
def test_tight_limits_do_not_matter(limit: str, python: str, pyz: Path) -> None:
    script = [f'{limit}; exec "$0" "$1" mcp', python, pyz]
    check_listing(
        run_process(["sh", "-c", *script], stdin=json.dumps(LISTING).encode(), env=bare_environment())
    )


# Nothing is imported from the wrong place

SHADOWS = """
_bootstrap abc argparse ast base64 bisect codecs collections contextlib copyreg dataclasses decimal enum errno
fcntl functools hashlib heapq importlib inspect io json keyword locale marshal math operator os pathlib pickle
platform protoyard random re reprlib select shutil signal site sitecustomize socket ssl stat string struct
subprocess tempfile threading token traceback types typing unicodedata usercustomize uuid warnings weakref
zipfile zipimport zlib
""".split()
# What neither the interpreter's start nor runpy has imported before the launcher can clean the path.
LATE = ["argparse", "base64", "hashlib", "json", "protoyard", "random", "shutil", "subprocess", "tempfile"]


def write_shadows(folder: Path, names: list[str]) -> Path:
    """Modules of the standard library's names that leave a file `hijacked-by-<name>` when they are run."""
    folder.mkdir(exist_ok=True)
    for name in names:
        trap = (
            f"open({str(folder / 'hijacked-by-')!r} + {name!r}, 'w').close()\nraise ImportError({name!r})\n"
        )
        (folder / f"{name}.py").write_text(trap, encoding="utf-8")
    return folder


def check_not_hijacked(ran: Ran, folder: Path) -> None:
    """No shadow module was run, and the start went well."""
    assert [path.name for path in folder.glob("hijacked-by-*")] == []
    check_listing(ran)


@pytest.mark.parametrize("form", ["absolute", "relative", "isolated", "executed"])
def test_modules_beside_it_and_in_the_current_directory_are_not_imported(
    form: str, python: str, pyz: Path, tmp_path: Path
) -> None:
    folder = write_shadows(tmp_path / "shadows", SHADOWS)
    archive = Path(shutil.copy(pyz, folder))
    stdin = json.dumps(LISTING).encode()
    if form == "executed":
        if not IS_POSIX:
            return
        path = write_path_with(python, tmp_path / "bin")
        ran = run_process(
            ["./protoyard.pyz", "mcp"], stdin=stdin, cwd=folder, env=bare_environment(PATH=path)
        )
    else:
        flags = ["-I"] if form == "isolated" else []
        ran = start(python, archive if form == "absolute" else archive.name, *flags, cwd=folder)
    check_not_hijacked(ran, folder)


def write_path_with(python: str, folder: Path) -> str:
    """A PATH on which `python3` is that interpreter."""
    folder.mkdir()
    (folder / "python3").symlink_to(python)
    return f"{folder}{os.pathsep}{os.defpath}"


@pytest.mark.parametrize("entry", ["", ".", "{folder}", ":{folder}:", "{folder}/../shadows"])
def test_modules_on_pythonpath_are_not_imported(entry: str, python: str, pyz: Path, tmp_path: Path) -> None:
    folder = write_shadows(tmp_path / "shadows", LATE)
    value = os.pathsep.join(["/nonexistent", entry.replace(":", os.pathsep).format(folder=folder)])
    env = bare_environment(PYTHONPATH=value)
    check_not_hijacked(start(python, pyz, cwd=folder, env=env), folder)
    version = run_process([python, pyz, "--version"], cwd=folder, env=env)
    assert (version.status, version.err) == (0, "")
    assert list(folder.glob("hijacked-by-*")) == []


def test_modules_beside_the_script_are_not_imported(python: str, tmp_path: Path) -> None:
    folder = write_shadows(tmp_path / "shadows", [name for name in SHADOWS if name != "protoyard"])
    script = Path(shutil.copy(MODULE, folder))
    check_not_hijacked(start(python, script, cwd=folder), folder)


def test_shivs_variables_and_a_planted_cache_are_ignored(python: str, pyz: Path, tmp_path: Path) -> None:
    folder = write_shadows(tmp_path / "shadows", ["other", *LATE])
    settings = {
        "SHIV_ROOT": folder,
        "SHIV_ENTRY_POINT": "other:main",
        "SHIV_MODULE": "other",
        "SHIV_CONSOLE_SCRIPT": "other",
        "SHIV_PREPEND_PYTHONPATH": folder,
        "SHIV_FORCE_EXTRACT": "1",
        "HOME": folder,
    }
    env = bare_environment(**{name: str(value) for name, value in settings.items()})
    names = set(os.listdir(folder))
    check_not_hijacked(start(python, pyz, cwd=folder, env=env), folder)
    assert set(os.listdir(folder)) == names


# Names and places

NAMES = [
    "protoyard",
    "no extension at all",
    "sp ace.pyz",
    "quo'te\".pyz",
    "$HOME;&`x`.pyz",
    "new\nline.pyz",
    "100%#1.pyz",
    "co:lon.pyz",
    "prüfstand-試作.pyz",
    "n" * 200 + ".pyz",
]


@pytest.mark.skipif(not IS_POSIX, reason="names that Windows does not allow")
def test_any_file_name_will_do(python: str, pyz: Path, tmp_path: Path) -> None:
    for name in [*map(os.fsencode, NAMES), b"not-utf8-\xff.pyz"]:
        path = os.path.join(os.fsencode(tmp_path), name)
        shutil.copy(pyz, path)
        env = bare_environment(LC_ALL="C") if name.isascii() else bare_environment(LC_ALL="C.UTF-8")
        check_listing(start(python, os.fsdecode(path), env=env))
        os.unlink(path)


@pytest.mark.skipif(not IS_POSIX, reason="links and modes")
@pytest.mark.parametrize(
    "form", ["link", "relative", "on PATH", "link on PATH", "read-only", "directory gone"]
)
def test_any_way_to_call_it_will_do(form: str, python: str, pyz: Path, tmp_path: Path) -> None:
    archive = tmp_path / "bin" / "protoyard"
    path = write_path_with(python, archive.parent)
    link = form in ("link", "link on PATH")
    if link:
        archive.symlink_to(pyz)
    else:
        shutil.copy(pyz, archive)
    if form == "read-only":
        archive.chmod(0o444)
        archive.parent.chmod(0o555)
    if form.endswith("on PATH"):
        stdin = json.dumps(LISTING).encode()
        env = bare_environment(PATH=path)
        check_listing(run_process(["sh", "-c", "exec protoyard mcp"], stdin=stdin, env=env))
    elif form == "relative":
        check_listing(start(python, "../bin/protoyard", cwd=archive.parent))
    elif form == "directory gone":
        gone = tmp_path / "gone"
        gone.mkdir()
        script = ["sh", "-c", 'rmdir "$0"; exec "$1" "$2" --version', gone, python, archive]
        version = run_process(script, cwd=gone, env=bare_environment())
        assert (version.status, version.err) == (0, "")
    else:
        check_listing(start(python, archive))
    archive.parent.chmod(0o755)


# Replaced, damaged, too old


@pytest.mark.parametrize("change", ["replaced", "deleted", "emptied"])
def test_a_running_server_does_not_need_its_file(change: str, python: str, pyz: Path, tmp_path: Path) -> None:
    archive = Path(shutil.copy(pyz, tmp_path / "server.pyz"))
    with Server(python, archive, cwd=tmp_path) as server:
        assert server.ask(LISTING)["result"]["tools"]
        if change == "replaced":
            other = write_variant(pyz, tmp_path / "other.pyz", code=None)
            os.replace(other, archive)
        elif change == "deleted":
            archive.unlink()
        else:
            archive.write_bytes(b"")
        answer = server.ask(build_request(2, "tools/call", name="blueprint_schema", arguments={}))
        assert answer["result"]["isError"] is False
        assert server.end() == 0
    assert server.stderr == b""


def test_a_file_replaced_while_it_starts_starts(python: str, pyz: Path, tmp_path: Path) -> None:
    archive = tmp_path / "server.pyz"
    whole = pyz.read_bytes()
    bare = write_variant(pyz, tmp_path / "bare.pyz", code=None).read_bytes()
    chance = random.Random(11)
    for round_number in range(40):
        archive.write_bytes([whole, bare][round_number % 2])
        staged = tmp_path / "staged"
        staged.write_bytes([bare, whole][round_number % 2])
        process = subprocess.Popen(
            [python, archive, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(chance.uniform(0, 0.04))
        os.replace(staged, archive)
        output, errors = process.communicate(json.dumps(LISTING).encode(), timeout=30)
        check_listing(Ran(process.returncode, output, errors))


def test_twenty_at_once_start(python: str, pyz: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    starting = [subprocess.Popen([python, pyz, "mcp"], **pipes) for _ in range(20)]
    for process in starting:
        output, errors = process.communicate(json.dumps(LISTING).encode(), timeout=60)
        check_listing(Ran(process.returncode, output, errors))


def test_a_damaged_file_fails_and_says_nothing_on_the_channel(python: str, pyz: Path, tmp_path: Path) -> None:
    whole = pyz.read_bytes()
    archive = tmp_path / "damaged.pyz"
    for data in (whole[: len(whole) // 2], whole[:-1], whole.replace(b"\n", b"\r\n"), b"<html></html>\n"):
        archive.write_bytes(data)
        ran = start(python, archive)
        assert ran.status != 0
        assert ran.stdout == b""
        assert ran.stderr


TOO_OLD = {
    version: path
    for version in ("2.7", "3.6", "3.7", "3.8")
    for path in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
}


def check_refusal(ran: Ran, version: str, status: int) -> None:
    """Nothing on standard output, and one line that names what is needed and what is there."""
    assert ran.status == status
    assert ran.stdout == b""
    (line,) = ran.err.splitlines()
    assert line.startswith("protoyard needs Python 3.9 or newer, but ")
    assert line.endswith(f"is Python {version}")


if TOO_OLD:  # an empty set of parameters would be a skip; what follows this block needs no old Python

    @pytest.mark.parametrize("version", TOO_OLD)
    def test_an_old_python_is_told_so_in_one_line(version: str, pyz: Path) -> None:
        check_refusal(start(str(TOO_OLD[version]), pyz), version, status=3)

    @pytest.mark.parametrize("version", [version for version in TOO_OLD if version >= "3.7"])
    def test_an_old_python_is_told_so_by_the_bare_module_too(version: str) -> None:
        check_refusal(start(str(TOO_OLD[version]), MODULE), version, status=1)


def test_a_python_that_says_it_is_3_8_is_refused(python: str, pyz: Path, tmp_path: Path) -> None:
    pretend = "import sys; sys.version_info = (3, 8, 18, 'final', 0)\n"
    (tmp_path / "sitecustomize.py").write_text(pretend, encoding="ascii")
    refused = start(python, pyz, env=bare_environment(PYTHONPATH=str(tmp_path)))
    check_refusal(refused, "3.8", status=3)


def test_many_lines_are_answered_in_one_start(python: str, pyz: Path) -> None:
    lines = [build_request(number, "ping") for number in range(100)]
    ran = serve_lines(python, pyz, lines)
    assert [answer["id"] for answer in ran.messages] == list(range(100))
