"""WIRE §8: what a path argument may look like and where it may lead, on real directories with real links."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator

import pytest
from conftest import as_nobody

import protoyard
from protoyard import Failure, Workspace, parse_path

OUTSIDE = "the path does not lead to a place inside the workspace"
LONG = "x" * 300
DEEP_1024 = "a/" * 511 + "bb"  # exactly 1,024 characters

# In the tables, BASE is a directory and WS the workspace in it (spelled with an apostrophe and brackets).
FILES = (
    "WS/notes.txt",
    "WS/prototypes/demo/prototype.json",
    "WS/prototypes/demo/a/blueprint.json",
    "WS/apps/one/index.html",
    "WS/src/deep/er/file.txt",
    "WS/büro/größe.txt",
    "WS/.git/config",
    "WS/-dash/-file",
    "WS/locked/file.txt",
    "WS-evil/x",
    "BASE/outside/secret.txt",
    "BASE/outside/WS/x",
    "BASE/forbidden/secret.txt",
)
LINKS = (  # (where, target)
    ("WS/to-demo", "prototypes/demo"),
    ("WS/to-file", "src/deep/er/file.txt"),
    ("WS/src/up", "../apps"),
    ("WS/src/deep/up-up", "../../apps/one"),
    ("WS/absolute-in", "WS/apps"),
    ("WS/self-root", "."),
    ("WS/absolute-root", "WS"),
    ("WS/out", "../outside"),
    ("WS/out-absolute", "BASE/outside"),
    ("WS/out-file", "../outside/secret.txt"),
    ("WS/out-etc", "/etc"),
    ("WS/out-slash", "/"),
    ("WS/out-parent", ".."),
    ("WS/out-neighbour", "../WSNAME-evil"),
    ("WS/out-chain", "src/chain"),
    ("WS/src/chain", "../out/secret.txt"),
    ("WS/out-missing", "../outside/nothing"),
    ("WS/out-missing-deep", "../nowhere/at/all"),
    ("WS/out-forbidden", "../forbidden/secret.txt"),
    ("WS/in-missing", "apps/new"),
    ("WS/in-missing-up", "nothing/../notes.txt"),
    ("WS/in-missing-out", "nothing/../../outside/secret.txt"),
    ("WS/there-and-back", "../outside/back/notes.txt"),
    ("BASE/outside/back", "../WSNAME"),
    ("WS/by-own-name", "../WSNAME/notes.txt"),
    ("WS/up-and-down", "src/../../WSNAME/src/deep"),
    ("WS/loop", "loop"),
    ("WS/loop-a", "loop-b"),
    ("WS/loop-b", "src/../loop-a"),
    ("WS/loop-deep", "loop-deep/x"),
    ("WS/to-git", ".git"),
    ("WS/to-hook", ".git/hooks"),
    ("WS/to-prototypes", "prototypes"),
    ("WS/to-odd", "odd $name;"),
    ("WS/dots", "./src/./deep//er/"),
    ("WS/proc-like", "/proc/self/root/etc"),
    ("BASE/ws-link", "WSNAME"),
    ("BASE/ws-link-to-link", "ws-link"),
    ("BASE/way", "outside"),
)
CHAIN_OF_LINKS = 45  # link-0 → … → link-44 → notes.txt: more than LINKS_MAX from link-0, few from link-40

WS_NAME = "o'brien (ws) [1]"


@pytest.fixture(scope="module")
def base() -> Iterator[pathlib.Path]:
    """The directory tree of the tables, where another user may look as well."""
    root = pathlib.Path(tempfile.mkdtemp()).resolve()
    root.chmod(0o755)
    for name in FILES:
        path = pathlib.Path(fill(name, root))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    for where, target in LINKS:
        os.symlink(fill(target, root), fill(where, root))
    for number in range(CHAIN_OF_LINKS):
        target = "notes.txt" if number == CHAIN_OF_LINKS - 1 else f"link-{number + 1}"
        os.symlink(target, root / WS_NAME / f"link-{number}")
    os.mkfifo(root / WS_NAME / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(root / WS_NAME)  # a socket's path is limited to 108 bytes
        server.bind("socket")
        os.chdir(here)
        yield root
    shutil.rmtree(root)


def fill(text: str, root: pathlib.Path) -> str:
    """BASE and WS in a table's text replaced by the real directories."""
    text = text.replace("WSNAME", WS_NAME).replace("BASE", str(root))
    return f"{root}/{WS_NAME}{text[2:]}" if text.startswith("WS") else text.replace("/WS/", f"/{WS_NAME}/")


# (sentence, argument, what it resolves to)
ACCEPTED = [
    ("a file in the root", "notes.txt", "notes.txt"),
    ("a file further down", "src/deep/er/file.txt", "src/deep/er/file.txt"),
    ("a folder", "src/deep", "src/deep"),
    ("a variant's folder", "prototypes/demo/a", "prototypes/demo/a"),
    ("a dot means the workspace", ".", ""),
    ("a dot and a slash mean the workspace", "./", ""),
    ("a leading dot component is dropped", "./notes.txt", "notes.txt"),
    ("dot components are dropped", "./src/./deep/.", "src/deep"),
    ("an empty component is dropped", "src//deep", "src/deep"),
    ("many empty components are dropped", "src////deep///", "src/deep"),
    ("a trailing slash is dropped", "src/deep/", "src/deep"),
    ("a trailing slash on a file is dropped", "notes.txt/", "notes.txt"),
    ("what is missing in the root", "nothing", "nothing"),
    ("what is missing further down", "src/nothing/at/all", "src/nothing/at/all"),
    ("what is missing below a file", "notes.txt/below", "notes.txt/below"),
    ("a name too long for any disk is merely missing", LONG, LONG),
    ("exactly 1,024 characters", DEEP_1024, DEEP_1024),
    ("letters of another script", "büro/größe.txt", "büro/größe.txt"),
    ("a zero-width joiner", "a\u200db", "a\u200db"),
    ("a zero-width non-joiner", "a\u200cb", "a\u200cb"),
    ("an emoji", "🙂.txt", "🙂.txt"),
    ("a combining accent is not normalised", "bu\u0308ro", "bu\u0308ro"),
    ("a space inside a name", "my file.txt", "my file.txt"),
    ("a no-break space", "a\u00a0b", "a\u00a0b"),
    ("plus, equals, at, comma, underscore", "a+b=c@d,e_f", "a+b=c@d,e_f"),
    ("dots inside a name", "a.b..c", "a.b..c"),
    ("a name that begins with a dot, to be read", ".git/config", ".git/config"),
    ("a name that begins with two dots", "..hidden", "..hidden"),
    ("a dash that does not lead", "src/-x", "src/-x"),
    ("an inner dash", "a-b", "a-b"),
    ("CONSOLE is no device", "console.txt", "console.txt"),
    ("COM without a digit is no device", "com.txt", "com.txt"),
    ("COM10 is no device", "com10", "com10"),
    ("a device name as an extension", "x.con", "x.con"),
    ("a device name inside a name", "my con.txt", "my con.txt"),
    ("NULL is no device", "null", "null"),
    ("absolute, in the workspace", "WS/notes.txt", "notes.txt"),
    ("absolute, the workspace", "WS", ""),
    ("absolute, the workspace with a slash", "WS/", ""),
    ("absolute with empty components", "WS//src//deep", "src/deep"),
    ("absolute with doubled leading slashes", "//WS/notes.txt", "notes.txt"),
    ("absolute with a dot after the workspace", "WS/./notes.txt", "notes.txt"),
    ("absolute, missing", "WS/new/thing", "new/thing"),
    ("a link to a folder inside", "to-demo", "prototypes/demo"),
    ("through a link to a folder inside", "to-demo/a/blueprint.json", "prototypes/demo/a/blueprint.json"),
    ("what is missing behind a link", "to-demo/b", "prototypes/demo/b"),
    ("a link to a file inside", "to-file", "src/deep/er/file.txt"),
    ("a link that goes up inside", "src/up/one", "apps/one"),
    ("a link that goes up twice inside", "src/deep/up-up/index.html", "apps/one/index.html"),
    ("an absolute link to a place inside", "absolute-in/one", "apps/one"),
    ("a link to the workspace", "self-root/notes.txt", "notes.txt"),
    ("the same link again and again", "self-root/self-root/self-root/notes.txt", "notes.txt"),
    ("an absolute link to the workspace", "absolute-root/src", "src"),
    ("a link to the workspace means it", "absolute-root", ""),
    ("a dangling link to a place inside", "in-missing", "apps/new"),
    ("below a dangling link to a place inside", "in-missing/x/y", "apps/new/x/y"),
    ("a link that leaves and comes back", "there-and-back", "notes.txt"),
    ("a link by the workspace's own name", "by-own-name", "notes.txt"),
    ("a link up and down again", "up-and-down/er/file.txt", "src/deep/er/file.txt"),
    ("a link with dots and doubled slashes", "dots/file.txt", "src/deep/er/file.txt"),
    ("a link whose target could not be spelled", "to-odd", "odd $name;"),
    ("out by one link and back by the next", "out/back/notes.txt", "notes.txt"),
    ("a few links in a row", "link-30", "notes.txt"),
    ("the workspace through a link beside it", "BASE/ws-link/notes.txt", "notes.txt"),
    ("the workspace through a link to a link", "BASE/ws-link-to-link/src", "src"),
    ("the workspace through a neighbour's link", "BASE/outside/back/apps", "apps"),
    ("missing, through a link beside the workspace", "BASE/ws-link/new", "new"),
    ("a FIFO resolves; reading it is refused", "fifo", "fifo"),
    ("the prototypes folder in other letters is just another name", "Prototypes-2/x", "Prototypes-2/x"),
]

# (sentence, argument): nothing but one message for all of these
LEADS_OUTSIDE = [
    ("an absolute path elsewhere", "/etc/passwd"),
    ("an absolute path that is missing", "/no/such/place"),
    ("the root of the file system", "/"),
    ("many slashes", "////"),
    ("a share's spelling", "//host/share"),
    ("the workspace's parent", "BASE"),
    ("a neighbour's file", "BASE/outside/secret.txt"),
    ("a neighbour's missing file", "BASE/outside/nothing"),
    ("a neighbour that begins with the workspace's name is no prefix", "BASE/ws-link-evil/x"),
    ("a file in a folder that nobody may look into", "BASE/forbidden/secret.txt"),
    ("what is missing in a folder that nobody may look into", "BASE/forbidden/nothing"),
    ("a link to a folder outside", "out"),
    ("through a link to a folder outside", "out/secret.txt"),
    ("what is missing behind a link to outside", "out/nothing"),
    ("an absolute link to outside", "out-absolute/secret.txt"),
    ("a link to a file outside", "out-file"),
    ("below a link to a file outside", "out-file/x"),
    ("a link to /etc", "out-etc/passwd"),
    ("a link to the root of the file system", "out-slash/etc/passwd"),
    ("a link to the root itself", "out-slash"),
    ("a link to the parent", "out-parent"),
    ("through a link to the parent", "out-parent/outside/secret.txt"),
    ("a link to a neighbour of a longer name", "out-neighbour/x"),
    ("a link to a link to outside", "out-chain"),
    ("a link inside to a link to outside", "src/chain"),
    ("a dangling link to outside", "out-missing"),
    ("below a dangling link to outside", "out-missing/x"),
    ("a dangling link to a missing folder outside", "out-missing-deep"),
    ("a link to what nobody may look at", "out-forbidden"),
    ("a link over what is missing and up again", "in-missing-up"),
    ("a link over what is missing, up and out", "in-missing-out"),
    ("a link to itself", "loop"),
    ("below a link to itself", "loop/x"),
    ("two links to each other", "loop-a"),
    ("the other of the two", "loop-b/x"),
    ("a link into itself", "loop-deep"),
    ("more links than anyone needs", "link-0"),
    ("a link through /proc", "proc-like/passwd"),
    ("a path elsewhere, of the workspace's folder name", "BASE/outside/other/x"),
    ("absolute, through the workspace to outside", "WS/out/secret.txt"),
    ("through a link beside the workspace and out", "BASE/ws-link/out/secret.txt"),
    ("a way outside that is a link outside", "BASE/way/secret.txt"),
]

SHELL = "holds a character with a meaning to shells or other systems"
INVISIBLE = "holds an invisible or control character"
ENDING = "has a component that ends in a dot or a space"
DEVICE = "names a Windows device"
DOT_DOT = 'holds a ".." component'

REFUSED = [
    ("an empty argument", "", "is empty"),
    ("1,025 characters", DEEP_1024 + "c", "is longer than 1024 characters"),
    ("5,000 characters", "x" * 5000, "is longer than 1024 characters"),
    ("a thousand dot components", "./" * 1000 + "notes.txt", "is longer than 1024 characters"),
    ("the parent", "..", DOT_DOT),
    ("a leading parent", "../outside/secret.txt", DOT_DOT),
    ("a parent in the middle, though it stays inside", "src/../notes.txt", DOT_DOT),
    ("a trailing parent", "src/..", DOT_DOT),
    ("a parent after the workspace's own name", "WS/../outside/secret.txt", DOT_DOT),
    ("a parent behind dots", "./.././notes.txt", DOT_DOT),
    ("a parent of a missing folder", "nothing/../notes.txt", DOT_DOT),
    ("a parent in an absolute path elsewhere", "/etc/../etc/passwd", DOT_DOT),
    ("a backslash", "src\\deep", SHELL),
    ("a parent with a backslash", "..\\outside", SHELL),
    ("a doubled backslash (a share)", "\\\\host\\share", SHELL),
    ("a drive letter", "c:\\windows", SHELL),
    ("a drive letter and slashes", "C:/windows", SHELL),
    ("a stream of a file", "notes.txt:stream", SHELL),
    ("a short name of Windows", "PROGRA~1", SHELL),
    ("a home directory", "~/x", SHELL),
    ("another's home directory", "~root/x", SHELL),
    ("a percent-encoded parent", "%2e%2e/outside", SHELL),
    ("a variable", "$HOME/x", SHELL),
    ("a variable in braces", "${HOME}", SHELL),
    ("a Windows variable", "%TEMP%", SHELL),
    ("a command in backticks", "`id`", SHELL),
    ("a URL", "file:///etc/passwd", SHELL),
    ("a device prefix of Windows", "//?/C:/x", SHELL),
    *[(f"the character {char}", f"src/a{char}b", SHELL) for char in ";&|`$<>(){}[]*?!#~'\"%^:\\"],
    ("a newline", "notes.txt\n", INVISIBLE),
    ("a newline inside", "a\nb", INVISIBLE),
    ("a NUL", "a\0b", INVISIBLE),
    ("a tab", "a\tb", INVISIBLE),
    ("a carriage return", "a\rb", INVISIBLE),
    ("an escape", "a\x1b[31m", INVISIBLE),
    ("a delete", "a\x7f", INVISIBLE),
    ("a C1 control", "a\x85b", INVISIBLE),
    ("the last C1 control", "a\x9fb", INVISIBLE),
    ("a right-to-left override", "a\u202eb", INVISIBLE),
    ("a left-to-right mark", "a\u200eb", INVISIBLE),
    ("an Arabic letter mark", "a\u061cb", INVISIBLE),
    ("an isolate", "a\u2066b", INVISIBLE),
    ("a pop isolate", "a\u2069b", INVISIBLE),
    ("a line separator", "a\u2028b", INVISIBLE),
    ("a paragraph separator", "a\u2029b", INVISIBLE),
    ("a zero-width space", "a\u200bb", INVISIBLE),
    ("a byte order mark", "\ufeffnotes.txt", INVISIBLE),
    ("a tag character", "a\U000e0041b", INVISIBLE),
    ("the cancel tag", "a\U000e007fb", INVISIBLE),
    ("half a surrogate pair", "a\ud83d", INVISIBLE),
    ("the other half", "\ude00b", INVISIBLE),
    ("a byte that is no UTF-8, as Python spells it", "a\udcff", INVISIBLE),
    ("a component that ends in a dot", "notes.txt.", ENDING),
    ("a folder that ends in a dot", "src./deep", ENDING),
    ("three dots", "...", ENDING),
    ("a component that ends in a space", "notes.txt ", ENDING),
    ("a folder that ends in a space", "src /deep", ENDING),
    ("a space", " ", ENDING),
    ("a dot and a space", ". ", ENDING),
    ("two dots and a space", ".. /x", ENDING),
    ("CON", "CON", DEVICE),
    ("con, small", "con", DEVICE),
    ("a device further down", "src/nul", DEVICE),
    ("a device as a folder", "aux/x", DEVICE),
    ("a device with an extension", "con.html", DEVICE),
    ("a device with two extensions", "prn.tar.gz", DEVICE),
    ("a device with a space before the extension", "con .txt", DEVICE),
    ("COM0", "com0", DEVICE),
    ("COM9", "Com9.log", DEVICE),
    ("LPT1", "lpt1", DEVICE),
    ("COM and a superscript one", "com¹", DEVICE),
    ("LPT and a superscript three", "lpt³.txt", DEVICE),
    ("a leading dash", "-rf", 'begins with "-"'),
    ("a dash alone", "-", 'begins with "-"'),
    ("an option", "--workspace=/", 'begins with "-"'),
    ("a leading dash after the workspace", "WS/-dash", 'begins with "-"'),
    ("a leading dash after a dot", "./-dash", 'begins with "-"'),
    ("the workspace's own name in another spelling of it is judged too", "BASE/./outside/o'brien", SHELL),
]

# (sentence, argument, None when it is refused else what it resolves to): places to be written
WRITES = [
    ("a new folder", "new", "new"),
    ("the default target", "apps/demo", "apps/demo"),
    ("an existing folder", "apps", "apps"),
    ("absolute", "WS/ui", "ui"),
    ("behind a link inside", "src/up/new", "apps/new"),
    ("a dangling link inside", "in-missing", "apps/new"),
    ("a name that holds prototypes", "my-prototypes", "my-prototypes"),
    ("prototypes further down", "apps/prototypes", "apps/prototypes"),
    ("the workspace", ".", None),
    ("the workspace, absolute", "WS", None),
    ("a link to the workspace", "self-root", None),
    ("prototypes", "prototypes", None),
    ("in prototypes", "prototypes/new", None),
    ("in a prototype", "prototypes/demo/a/app", None),
    ("in prototypes in capitals", "PROTOTYPES/x", None),
    ("in prototypes with a long s", "prototype\u017f/x", None),
    ("a link to prototypes", "to-prototypes/new", None),
    ("a link to a prototype", "to-demo/app", None),
    ("git hooks", ".git/hooks/x", None),
    ("git in capitals", ".GIT/hooks", None),
    ("a link to git hooks", "to-hook", None),
    ("a link to the git folder", "to-git/hooks", None),
    ("an editor's folder", ".vscode", None),
    ("an agent's configuration", ".mcp.json", None),
    ("a dot folder further down", "apps/.github/workflows", None),
    ("the state folder", ".protoyard/x", None),
    ("outside", "out/new", None),
    ("a dangling link to outside", "out-missing", None),
]


def ids(table: list) -> list[str]:
    return [row[0] for row in table]


@pytest.fixture(scope="module")
def there(base: pathlib.Path) -> Workspace:
    return Workspace(str(base / WS_NAME))


def refusal(workspace: Workspace, argument: str, **options: bool) -> str:
    with pytest.raises(Failure) as caught:
        workspace.resolve(argument, field="folder", **options)
    assert caught.value.code == "unsafe_path"
    return caught.value.message


@pytest.mark.parametrize(("sentence", "argument", "expected"), ACCEPTED, ids=ids(ACCEPTED))
def test_a_path_inside_is_resolved(base, there, sentence, argument, expected):
    argument = argument.replace("//WS", "/" + fill("WS", base))
    found = there.resolve(fill(argument, base), field="folder")
    assert found == expected
    real = os.path.realpath(os.path.join(there.directory, found))
    assert real == there.absolute(found)
    assert os.path.commonpath([real, there.directory]) == there.directory


@pytest.mark.parametrize(("sentence", "argument"), LEADS_OUTSIDE, ids=ids(LEADS_OUTSIDE))
def test_what_is_not_inside_gets_one_and_the_same_answer(base, there, sentence, argument):
    assert refusal(there, fill(argument, base)) == f"folder: {OUTSIDE}"


@pytest.mark.parametrize(("sentence", "argument", "reason"), REFUSED, ids=ids(REFUSED))
@pytest.mark.parametrize("write", [False, True], ids=["to be read", "to be written"])
def test_a_spelling_is_refused_with_its_reason(base, there, sentence, argument, reason, write):
    assert refusal(there, fill(argument, base), write=write) == f"folder: {reason}"


@pytest.mark.parametrize(("sentence", "argument", "expected"), WRITES, ids=ids(WRITES))
def test_where_files_may_be_written(base, there, sentence, argument, expected):
    argument = fill(argument, base)
    if expected is None:
        refusal(there, argument, write=True)
    else:
        assert there.resolve(argument, field="target", write=True) == expected


def test_resolving_makes_nothing(base, there):
    before = sorted(str(path) for path in base.rglob("*"))
    for _, argument, *_rest in ACCEPTED + LEADS_OUTSIDE + REFUSED + WRITES:
        try:
            there.resolve(fill(argument, base), field="folder")
        except Failure as failure:
            assert failure.code == "unsafe_path"
    assert sorted(str(path) for path in base.rglob("*")) == before


def test_there_are_at_least_150_spellings():
    assert len(ACCEPTED + LEADS_OUTSIDE + REFUSED + WRITES) >= 150


def test_a_refusal_never_shows_a_target(base, there):
    for _, argument in LEADS_OUTSIDE:
        with pytest.raises(Failure) as caught:
            there.resolve(fill(argument, base), field="folder")
        text = caught.value.message + caught.value.hint
        assert str(base) not in text and "outside/" not in text and "secret" not in text


# --- the workspace's own spellings -----------------------------------


def test_every_spelling_of_the_workspace_is_taken_off(base, monkeypatch):
    ws = base / WS_NAME
    monkeypatch.chdir(base)
    monkeypatch.setenv("PWD", str(base))
    by_link = Workspace(str(base / "ws-link"))
    assert by_link.directory == str(ws)
    assert by_link.resolve(f"{base}/ws-link/notes.txt", field="f") == "notes.txt"
    assert by_link.resolve(f"{ws}/notes.txt", field="f") == "notes.txt"
    relative = Workspace(f"./{WS_NAME}/src/..")
    assert relative.resolve(f"{WS_NAME}/src/../notes.txt", field="f") == "notes.txt"
    assert relative.resolve(f"{ws}/notes.txt", field="f") == "notes.txt"
    assert Workspace("ws-link").resolve("ws-link/notes.txt", field="f") == "notes.txt"


def test_the_working_directory_has_a_spelling_of_its_own(base, monkeypatch):
    monkeypatch.chdir(base / "ws-link")
    monkeypatch.setenv("PWD", f"{base}/ws-link")
    here = Workspace(".")
    assert here.directory == str(base / WS_NAME)
    assert here.resolve(f"{base}/ws-link/src", field="f") == "src"
    assert here.resolve("src", field="f") == "src"


def test_a_stale_pwd_is_no_spelling_of_the_workspace(base, monkeypatch):
    monkeypatch.chdir(base / WS_NAME)
    monkeypatch.setenv("PWD", f"{base}/outside")
    assert refusal(Workspace("."), f"{base}/outside/secret.txt") == f"folder: {OUTSIDE}"


def test_a_home_directory_is_expanded_and_taken_off(base, monkeypatch):
    monkeypatch.setenv("HOME", str(base))
    home = Workspace(f"~/{WS_NAME}")
    assert home.directory == str(base / WS_NAME)
    assert home.resolve(f"~/{WS_NAME}/notes.txt", field="f") == "notes.txt"
    assert home.resolve(f"{base}/{WS_NAME}/notes.txt", field="f") == "notes.txt"


def test_what_may_not_be_looked_at_is_not_proven_inside(base, there):
    (base / "forbidden").chmod(0)
    (base / WS_NAME / "locked").chmod(0)
    try:
        messages = as_nobody(
            lambda: [
                refusal(there, fill(argument, base))
                for argument in (
                    "BASE/forbidden/secret.txt", "BASE/forbidden/nothing", "out-forbidden",
                    "BASE/outside/secret.txt", "locked/file.txt", "locked/nothing",
                )
            ]
        )  # fmt: skip
    finally:
        (base / "forbidden").chmod(0o755)
        (base / WS_NAME / "locked").chmod(0o755)
    assert set(messages) == {f"folder: {OUTSIDE}"}


# --- Windows' rules, with made-up spellings of the workspace ----------

WINDOWS_PREFIXES = (
    "C:\\Users\\O'Brien\\My Work (1)",
    "c:/Users/O'Brien/My Work (1)",
    "\\\\server\\share\\ws",
)
# (sentence, argument, anchor and components)
WINDOWS_ACCEPTED = [
    ("a relative path with slashes", "src/deep", ["src", "deep"]),
    ("a relative path with backslashes", "src\\deep\\x.txt", ["src", "deep", "x.txt"]),
    ("mixed separators", "src\\deep/x.txt", ["src", "deep", "x.txt"]),
    ("dots and doubled separators", ".\\src\\\\.\\deep\\", ["src", "deep"]),
    ("the workspace", "C:\\Users\\O'Brien\\My Work (1)", []),
    ("in the workspace", "C:\\Users\\O'Brien\\My Work (1)\\src", ["src"]),
    ("the drive in the other case", "c:\\Users\\O'Brien\\My Work (1)\\src", ["src"]),
    ("folders in another case", "C:\\USERS\\o'brien\\MY WORK (1)\\Src", ["Src"]),
    ("with slashes", "C:/Users/O'Brien/My Work (1)/src", ["src"]),
    ("on a share", "\\\\server\\share\\ws\\src", ["src"]),
    ("on a share in another case", "\\\\SERVER\\Share\\WS\\src", ["src"]),
    ("on a share with slashes", "//server/share/ws/src", ["src"]),
]
WINDOWS_REFUSED = [
    ("a parent with a backslash", "src\\..\\..\\x", DOT_DOT),
    ("another drive", "D:\\x", OUTSIDE),
    ("another folder of the drive", "C:\\Windows", OUTSIDE),
    ("relative to a drive", "C:src", OUTSIDE),
    ("a drive", "C:", OUTSIDE),
    ("another share", "\\\\evil\\share\\x", OUTSIDE),
    ("a device path", "\\\\.\\pipe\\x", OUTSIDE),
    ("a verbatim path", "\\\\?\\C:\\Users", OUTSIDE),
    ("a neighbour of a longer name", "C:\\Users\\O'Brien\\My Work (1)-evil\\x", OUTSIDE),
    ("a stream", "x.txt:stream", SHELL),
    ("a device behind a backslash", "src\\NUL", DEVICE),
    ("a device in the workspace", "C:\\Users\\O'Brien\\My Work (1)\\con.txt", DEVICE),
    ("a trailing dot behind a backslash", "src.\\x", ENDING),
    ("a trailing space", "src \\x", ENDING),
    ("a short name", "PROGRA~1\\x", SHELL),
]


@pytest.mark.parametrize(("sentence", "argument", "parts"), WINDOWS_ACCEPTED, ids=ids(WINDOWS_ACCEPTED))
def test_windows_accepts(sentence, argument, parts):
    assert parse_path(argument, WINDOWS_PREFIXES, windows=True) == ("", parts)


@pytest.mark.parametrize(("sentence", "argument", "reason"), WINDOWS_REFUSED, ids=ids(WINDOWS_REFUSED))
def test_windows_refuses(sentence, argument, reason):
    with pytest.raises(ValueError, match=re.escape(reason)) as caught:
        parse_path(argument, WINDOWS_PREFIXES, windows=True)
    assert str(caught.value) == reason


def test_rooted_without_a_drive_is_left_to_the_disk_to_judge():
    assert parse_path("\\Windows\\x", WINDOWS_PREFIXES, windows=True) == ("/", ["Windows", "x"])


def test_the_rules_for_windows_apply_to_a_real_workspace_too(place):
    (place / "src").mkdir()
    ws = Workspace(str(place), windows=True)
    assert ws.resolve("src\\new.txt", field="f") == "src/new.txt"
    assert ws.resolve(str(place).replace("/", "\\") + "\\src", field="f") == "src"
    assert refusal(ws, "..\\x") == f"folder: {DOT_DOT}"


# --- what `no_workspace` says -----------------------------------------

NO_WORKSPACE = [
    ("an unexpanded variable", "${workspaceFolder}", "not expanded"),
    ("an unexpanded variable in a path", "/home/${USER}/x", "not expanded"),
    ("an unexpanded variable of Windows", "%USERPROFILE%\\x", "not expanded"),
    ("the root of the file system", "/", "root of a file system"),
    ("the root, spelled oddly", "//", "root of a file system"),
    ("the root through dots", "/tmp/..", "root of a file system"),
    ("nothing", "", "not a directory"),
    ("what is missing", "/no/such/directory", "not a directory"),
    ("a file", "/etc/passwd", "not a directory"),
    ("a device", "/dev/null", "not a directory"),
    ("a NUL", "/tmp/a\0b", "not a directory"),
    ("half a surrogate pair", "/tmp/\ud83d", "not a directory"),
    ("a name too long", "/tmp/" + "x" * 5000, "not a directory"),
    ("a literal variable", "$HOME/p", "not a directory"),
    ("a home directory that does not exist", "~nobody-of-that-name/p", "not a directory"),
]


@pytest.mark.parametrize(("sentence", "directory", "words"), NO_WORKSPACE, ids=ids(NO_WORKSPACE))
def test_what_cannot_be_a_workspace(sentence, directory, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Failure) as caught:
        Workspace(directory)
    assert caught.value.code == "no_workspace"
    assert words in caught.value.message and "--workspace DIR" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_the_home_directory_may_be_the_workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Workspace("~").directory == str(tmp_path.resolve())


def test_a_vanished_working_directory_is_no_workspace(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(Failure) as caught:
        Workspace(".")
    assert caught.value.code == "no_workspace"
    monkeypatch.chdir(tmp_path)


def test_the_slug_and_path_limits_are_those_of_the_contract():
    assert protoyard.PATH_MAX_CHARS == 1024
