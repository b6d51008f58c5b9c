#!/usr/bin/env python3
# ======================================================================
# §00 head: what this is, the map, the way of one request
# ======================================================================
"""Protoyard: a brief in, clickable HTML prototypes out; an MCP server and a command line in one module."""

from __future__ import annotations

import sys

if sys.version_info < (3, 9):  # parsed by 3.7 and 3.8: no walrus, no positional-only mark in this file
    sys.stderr.write("protoyard needs Python 3.9 or newer, but %s is Python %d.%d\n" % ((sys.executable,) + sys.version_info[:2]))
    sys.exit(3)

import json
import os
import re
import threading
import time
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

__version__ = "0.1.0"
__all__ = ["__version__", "main"]

# ======================================================================
# §01 limits: every size, time, count, fixed name and revision id
# ======================================================================
# Rules: constants only, the unit in the name, the reason above. A number that appears anywhere below is a bug.

# ======================================================================
# §02 errors: the closed table of failure codes
# ======================================================================
# Rules: uses §01.

# ======================================================================
# §03 text: strict JSON in and out, characters, redaction
# ======================================================================
# Rules: uses §01-02; pure.

# ======================================================================
# §04 schema: the subset of JSON Schema that is published and checked
# ======================================================================
# Rules: uses §01-03; pure.

# ======================================================================
# §05 calls: one running operation: cancel, deadline, progress, commit gate, children
# ======================================================================
# Rules: uses §01-03.

# ======================================================================
# §06 workspace: every touch of a file stays inside
# ======================================================================
# Rules: uses §01-03, §05. Only this section opens or resolves a caller's path.

# ======================================================================
# §07 blueprint: schema, semantic checks, patches, differences in words
# ======================================================================
# Rules: uses §01-04; pure.

# ======================================================================
# §08 archetypes: tables of record types, fields, statuses, words
# ======================================================================
# Rules: uses §01, §07; pure.

# ======================================================================
# §09 brief: text to roles, entities, screens, flows, variants
# ======================================================================
# Rules: uses §01-04, §07-08; pure.

# ======================================================================
# §10 records: seeded fictional data, consistent across entities
# ======================================================================
# Rules: uses §01, §07-08; pure.

# ======================================================================
# §11 page: style, runtime and markup; blueprint to one self-contained page
# ======================================================================
# Rules: uses §01, §03, §07; pure.

# ======================================================================
# §12 store: prototypes on disk
# ======================================================================
# Rules: uses §01-07, §10-11; knows no brief: it is handed blueprints.

# ======================================================================
# §14 browser: find a browser, drive it by its pipe, take screenshots
# ======================================================================
# Rules: uses §01-06.

# ======================================================================
# §15 operations: the rows that are tools and commands
# ======================================================================
# Rules: uses §01-14.

# ======================================================================
# §16 cli: parser from the rows, execute, printing for people
# ======================================================================
# Rules: uses §01-07, §15.

# ======================================================================
# §17 protocol: sans-I/O JSON-RPC and MCP core for both revisions
# ======================================================================
# Rules: uses §01-04; the tools' table is an argument; pure.

# ======================================================================
# §18 server: the stdio loop
# ======================================================================
# Rules: uses §01-06, §15-17.

# ======================================================================
# §19 machine: the rows that only the command line has
# ======================================================================
# Rules: uses §01-06, §14-18.

# ======================================================================
# §20 main: the joined table and the guard
# ======================================================================
# Rules: uses all.
