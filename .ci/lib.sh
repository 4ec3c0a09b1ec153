# Shared by the scripts in this folder; to be sourced with the root of the checkout as the working directory.
# shellcheck shell=bash

cache=$PWD/.cache

say() { printf '\n== %s\n' "$*"; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Commands of the fenced block that follows the marker <!-- setup:NAME --> in README.md.
readme_block() {
    [ -f README.md ] || die "README.md is missing"
    local block
    block=$(awk -v marker="<!-- setup:$1 -->" '
        !found { if (index($0, marker)) found = 1; next }
        /^[ \t]*```/ { if (inside) exit; inside = 1; next }
        inside { print }
    ' README.md)
    [ -n "$block" ] || die "README.md has no fenced block after the marker '<!-- setup:$1 -->'"
    printf '%s\n' "$block"
}

# Python environment with the development tools in .cache/venv, reused while pyproject.toml and Python stay the same.
development_environment() {
    local stamp
    stamp=$({ cat pyproject.toml; python3 --version; pwd; } | sha256sum | cut -d' ' -f1)
    if [ "$(cat "$cache/venv/stamp" 2>/dev/null)" != "$stamp" ]; then
        mkdir -p "$cache"
        rm -rf "$cache/venv"
        python3 -m venv "$cache/venv"
        # pip lays the console script and the metadata down at the end, so a stamp means a whole environment.
        "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --editable '.[dev]'
        printf '%s\n' "$stamp" >"$cache/venv/stamp"
    fi
    PATH=$cache/venv/bin:$PATH
    export PATH
    unset PYTHONPATH PYTHONHOME
    export PYTHONNOUSERSITE=1
}

# The real pi and its Node; tests that use them fail instead of being skipped.
interop_environment() {
    .ci/interop-install "$cache/interop"
    export PIVCS_INTEROP_DIR=$cache/interop PIVCS_REQUIRE_INTEROP=1
}

# Session files that the real client wrote, where they lie beside the checkout.
fixtures_environment() {
    if [ -z "${PIVCS_FIXTURES:-}" ] && [ -d ../shared/fixtures ]; then
        PIVCS_FIXTURES=$(realpath ../shared/fixtures)
        export PIVCS_FIXTURES
    fi
    echo "fixtures: ${PIVCS_FIXTURES:-none}"
}
