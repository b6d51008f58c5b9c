#!/bin/sh
# Makes everything from a clone, with Python 3.9 or newer and a package index (none once .venv exists):
#
#   ./build.sh [--source-only]         .venv, shiv, protoyard.pyz, protoyard.pyz.sha256; then runs the archive once
#   ./build.sh test [ARGUMENTS...]     ruff and pytest; the arguments go to pytest
#
# PYTHON=/path/to/python makes .venv from that interpreter instead of the newest one found.
# PROTOYARD_GROUPS="dev interop" lets the tests run that need other people's clients and a browser.
set -eu
umask 022
unset SOURCE_DATE_EPOCH PYTHONPATH PYTHONHOME
cd "$(dirname -- "$0")"
venv_python=.venv/bin/python

fail() {
    printf 'build.sh: %s\n' "$1" >&2
    exit 1
}

usage() {
    sed -n 's/^# \{0,1\}//; 2,8p' "$0"
}

# Every place at which a Python may be, newest release first; the names may hold spaces, so one a line.
candidates() {
    for minor in 14 13 12 11 10 9; do
        command -v "python3.$minor" || true
        for path in "${HOME:-/nonexistent}"/.pyenv/versions/3."$minor".*/bin/"python3.$minor"; do
            if [ -x "$path" ]; then printf '%s\n' "$path"; fi
        done
    done
    command -v python3 || true
    command -v python || true
}

# A version manager's shim may be there and fail: only an answer counts.
is_new_enough() {
    "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null
}

can_make_venvs() {
    "$1" -I -c 'import ensurepip, venv' 2>/dev/null
}

# Prints the interpreter that .venv is made from: $PYTHON, else the newest that can.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_new_enough "$PYTHON" || fail "PYTHON=$PYTHON is no Python 3.9 or newer"
        can_make_venvs "$PYTHON" || fail "PYTHON=$PYTHON has no venv and ensurepip modules"
        printf '%s\n' "$PYTHON"
        return
    fi
    bare=
    while IFS= read -r path; do
        if [ -n "$path" ] && is_new_enough "$path"; then
            if can_make_venvs "$path"; then
                printf '%s\n' "$path"
                return
            fi
            bare=$path
        fi
    done <<END
$(candidates)
END
    if [ -n "$bare" ]; then
        fail "$bare has no venv and ensurepip modules; on Debian and Ubuntu: apt-get install python3-venv"
    fi
    fail "no Python 3.9 or newer found; install one, or name it: PYTHON=/path/to/python ./build.sh"
}

# .venv stays as it is while it answers and nobody asks for another interpreter.
make_venv() {
    if [ -e .venv/made-from ] && "$venv_python" -I -c '' 2>/dev/null; then
        if [ -z "${PYTHON:-}" ] || [ "$PYTHON" = "$(cat .venv/made-from)" ]; then return; fi
    fi
    python=$(find_python)
    printf 'making .venv from %s\n' "$python"
    "$python" -I -m venv --clear .venv || fail "$python could not make a virtual environment in $PWD/.venv"
    printf '%s\n' "$python" >.venv/made-from
}

# install NAME REQUIREMENTS: unless the same ones were installed under that name before.
install() {
    if [ -e ".venv/has-$1" ] && [ "$2" = "$(cat ".venv/has-$1")" ]; then return; fi
    printf 'installing into .venv: %s\n' "$(printf '%s' "$2" | tr '\n' ' ')"
    printf '%s\n' "$2" >.venv/wanted
    "$venv_python" -m pip install --quiet --disable-pip-version-check --requirement .venv/wanted ||
        fail "pip could not install the above; a package index is needed once (then the build works offline)"
    mv .venv/wanted ".venv/has-$1"
}

requirements() {
    "$venv_python" -I .build/requirements.py "$@"
}

case "${1:-}" in
test)
    shift
    make_venv
    for group in ${PROTOYARD_GROUPS:-dev}; do
        wanted=$(requirements "$group")
        install "$group" "$wanted"
    done
    "$venv_python" -m ruff check .
    "$venv_python" -m ruff format --check .
    exec "$venv_python" -m pytest "$@"
    ;;
"" | --source-only)
    make_venv
    wanted=$(requirements dev)
    install shiv "$(printf '%s\n' "$wanted" | grep '^shiv==')"
    exec "$venv_python" -I .build/archive.py "$@"
    ;;
-h | --help | help)
    usage
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
