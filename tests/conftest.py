"""Shared by all tests: a workspace on a real disk and a Call that nobody stops."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import temporary_stand_ins  # noqa: F401, E402  (gone as soon as §03 and §05 are there)

import protoyard  # noqa: E402

NOBODY = 65534


def as_nobody(act: Callable[[], Any]) -> Any:
    """What `act` returns (or raises) with the rights of a user who owns nothing; only root can become that."""
    os.seteuid(NOBODY)
    try:
        return act()
    finally:
        os.seteuid(0)


@pytest.fixture
def open_place() -> Iterator[pathlib.Path]:
    """An empty workspace directory that any user may look into and write to."""
    root = pathlib.Path(tempfile.mkdtemp())
    root.chmod(0o755)
    (root / "ws").mkdir()
    (root / "ws").chmod(0o777)
    yield root / "ws"
    shutil.rmtree(root)


@pytest.fixture
def call() -> protoyard.Call:
    """A running call without a deadline."""
    return protoyard.Call()


@pytest.fixture
def place(tmp_path: pathlib.Path) -> pathlib.Path:
    """An empty workspace directory with room around it for what must not be touched."""
    directory = tmp_path / "ws"
    directory.mkdir()
    return directory


@pytest.fixture
def workspace(place: pathlib.Path) -> protoyard.Workspace:
    """A Workspace in the empty directory `place`."""
    return protoyard.Workspace(str(place))
