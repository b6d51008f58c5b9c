"""Starts Protoyard out of its own archive: nothing is unpacked, nothing is written, no cache, no HOME.

The archive holds one ready code object per CPython version (`code/<magic number>`, its first eight bytes the
interpreter's own source hash of the rest); any other interpreter compiles the source that lies beside it.
Python 2.7 and 3.6 must be able to parse this file: it is where they are told what is missing.
"""

import sys

if sys.version_info < (3, 9):
    sys.stderr.write(
        "protoyard needs Python 3.9 or newer, but %s is Python %d.%d\n"
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )
    sys.exit(3)

import marshal
import os
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER, source_hash

NAME = "protoyard"
# Not a path that could exist in the current directory: a traceback would show that file's lines.
LABEL = "protoyard.pyz/site-packages/protoyard.py"
SOURCE = os.path.join("site-packages", "protoyard.py")
CODE = os.path.join("code", MAGIC_NUMBER.hex())
HASH_BYTES = 8


def place(path):
    """A path in the form in which two can be compared, "" for one below a current directory that is gone."""
    try:
        return os.path.normcase(os.path.abspath(path))
    except OSError:
        return ""


def guard_imports(archive):
    """Leave on sys.path only what the installation put there, so that no module of the same name gets in.

    Out go the archive, the current directory and PYTHONPATH, whose empty entries mean the current directory;
    what lies below the standard library stays, whoever named it.
    """
    library = os.path.join(place(os.path.dirname(os.__file__)), "")
    unwanted = {"", place(""), place(archive)}
    unwanted.update(place(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:] = [
        entry
        for entry in sys.path
        if place(entry) not in unwanted or os.path.join(place(entry), "").startswith(library)
    ]


def reopen(archive):
    """The archive as it is now: it may have been replaced since Python read its directory."""
    sys.modules["zipimport"]._zip_directory_cache.clear()
    return type(archive)(os.path.abspath(archive.archive))


def ready_code(archive):
    """This interpreter's code object, None where the archive has none or it is damaged."""
    try:
        entry = memoryview(archive.get_data(CODE))
        if source_hash(entry[HASH_BYTES:]) == entry[:HASH_BYTES]:
            return marshal.loads(entry[HASH_BYTES:])
    except (ImportError, EOFError, OSError):
        pass
    return None


def program(archive):
    """The code object of the program: ready, ready in the file as it is now, or compiled from its source."""
    code = ready_code(archive)
    if code is None:
        archive = reopen(archive)
        code = ready_code(archive)
    if code is None:
        code = compile(archive.get_data(SOURCE), LABEL, "exec", dont_inherit=True)
    return code


def load(archive):
    """The module, run, with everything that an import would have set."""
    folder = os.path.dirname(os.path.join(os.path.abspath(archive.archive), SOURCE))
    module = type(sys)(NAME)
    module.__file__ = os.path.join(folder, NAME + ".py")
    module.__loader__ = type(archive)(folder)
    module.__spec__ = ModuleSpec(NAME, module.__loader__, origin=module.__file__)
    sys.modules[NAME] = module
    exec(program(archive), module.__dict__)
    return module


def start(archive):
    """Run the program, or shiv's own door for looking into an archive when SHIV_INTERPRETER asks for it."""
    if os.environ.get("SHIV_INTERPRETER"):
        return __import__("_bootstrap").bootstrap()
    guard_imports(archive.archive)
    return load(archive).main()


if __name__ == "__main__":
    sys.exit(start(__loader__))
