#!/bin/sh
# Install codelens for this user in a separate environment, and connect the coding agents.
#
#   sh install/install.sh [--from SOURCE] [--no-agents] [-- OPTIONS OF `codelens install`]
#   sh install/install.sh --uninstall
#
# SOURCE is a pip source: a folder, a wheel, a requirement such as codelens==0.1.0. The default is
# the checkout of this script, or else the newest release. Uses uv or pipx if they are on PATH and
# work, or else a venv with a link in ~/.local/bin. No shell start-up file is changed.
# CODELENS_PYTHON names the interpreter (3.11 or newer).
set -eu

data="${XDG_DATA_HOME:-$HOME/.local/share}/codelens"
bin="$HOME/.local/bin"
man="$HOME/.local/share/man/man1" # `man` searches it if ~/.local/bin is on PATH
record="$data/installed-with"

say() { printf '%s\n' "$*"; }
fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; }

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    if [ -n "${CODELENS_PYTHON:-}" ]; then
        is_new_enough "$CODELENS_PYTHON" || fail "CODELENS_PYTHON=$CODELENS_PYTHON is not Python 3.11 or newer"
        printf '%s\n' "$CODELENS_PYTHON"
        return
    fi
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if has "$name" && is_new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
    fail "no Python 3.11 or newer is on PATH; install one, or name it with CODELENS_PYTHON"
}

own_checkout() {
    here=$(cd "$(dirname "$0")" && pwd)
    root=$(dirname "$here")
    if grep -q '^name = "codelens"' "$root/pyproject.toml" 2>/dev/null; then
        printf '%s\n' "$root"
    fi
}

with_uv() {
    say "installing $source with uv" >&2
    uv tool install --quiet --force --python "$python" "$source" >&2 || return 1
    printf '%s/codelens\n' "$(uv tool dir --bin)"
}

with_pipx() {
    say "installing $source with pipx" >&2
    # pipx before 1.2 (Debian 12) has no --quiet; show its output only if it fails.
    if ! said=$(pipx install --force --python "$python" "$source" 2>&1); then
        say "$said" >&2
        return 1
    fi
    printf '%s/codelens\n' "$(pipx environment --value PIPX_BIN_DIR)"
}

with_venv() {
    say "installing $source into $data/venv" >&2
    link="$bin/codelens"
    if [ -e "$link" ] && ! [ -L "$link" ]; then
        fail "$link exists and is not a link of codelens; move it away first"
    fi
    "$python" -m venv --clear "$data/venv" >&2 ||
        fail "$python cannot create a venv; install its venv package (python3-venv on Debian)"
    "$data/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$source" >&2 ||
        return 1
    mkdir -p "$bin" "$man"
    ln -sf "$data/venv/bin/codelens" "$link"
    ln -sf "$data/venv/share/man/man1/codelens.1" "$man/codelens.1"
    printf '%s\n' "$link"
}

install() {
    python=$(find_python)
    if [ -z "$source" ]; then
        source=$(own_checkout)
        source=${source:-codelens}
    fi
    if has uv; then
        method=uv
    elif has pipx; then
        method=pipx
    else
        method=venv
    fi
    mkdir -p "$data"
    command=$("with_$method") || command=
    if [ "$method" != venv ] && ! "${command:-false}" --version >/dev/null 2>&1; then
        say "$method failed; trying a venv instead" >&2
        method=venv
        command=$(with_venv) || command=
    fi
    [ -n "$command" ] || fail "$source could not be installed; no agent was configured"
    printf '%s\n' "$method" >"$record"
    "$command" --version
    case ":$PATH:" in
    *":$(dirname "$command"):"*) ;;
    *) say "$(dirname "$command") is not on your PATH; add it in your shell's start-up file to type \`codelens\`" ;;
    esac
    if [ "$agents" = yes ]; then
        # With the command on PATH, the agents are configured to start it: it outlives its environment.
        PATH="$(dirname "$command"):$PATH" "$command" install "$@"
    fi
}

uninstall() {
    method=venv
    [ -r "$record" ] && method=$(cat "$record")
    case $method in
    uv) command=$(uv tool dir --bin)/codelens ;;
    pipx) command=$(pipx environment --value PIPX_BIN_DIR)/codelens ;;
    *) command=$bin/codelens ;;
    esac
    if [ -x "$command" ]; then
        "$command" uninstall --yes "$@"
    else
        say "no codelens at $command"
    fi
    case $method in
    uv) uv tool uninstall --quiet codelens || true ;;
    pipx) pipx uninstall codelens >/dev/null || true ;;
    *)
        if [ -L "$command" ]; then rm -f "$command"; fi
        if [ -L "$man/codelens.1" ]; then rm -f "$man/codelens.1"; fi
        rmdir -p "$man" 2>/dev/null || true
        ;;
    esac
    rm -rf "$data/venv"
    rm -f "$record"
    if [ -d "$data" ]; then rmdir "$data" 2>/dev/null || true; fi
    say "codelens is uninstalled; indexes and saved contexts stay in ${CODELENS_HOME:-$HOME/.codelens}"
}

source=
agents=yes
task=install
while [ $# -gt 0 ]; do
    case $1 in
    --from)
        [ $# -ge 2 ] || fail "--from needs a folder, a wheel or a requirement"
        source=$2
        shift
        ;;
    --no-agents) agents=no ;;
    --uninstall) task=uninstall ;;
    -h | --help)
        usage
        exit 0
        ;;
    --)
        shift
        break
        ;;
    *) fail "unknown option $1; see --help" ;;
    esac
    shift
done
"$task" "$@"
