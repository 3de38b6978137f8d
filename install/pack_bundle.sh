#!/bin/sh
# Create the MCPB bundle, a server that desktop applications install with one click: a wheel of this
# checkout with the manifest in install/plugins/mcpb.
#
#   sh install/pack_bundle.sh [OUT]
#
# OUT is a folder (default: dist). Needs npx and a Python with pip (default: python3; PYTHON names
# another one).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/dist}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$root/install/plugins/mcpb/"* "$root/LICENSE" "$work/"
"${PYTHON:-python3}" -m pip wheel --quiet --no-deps --wheel-dir "$work" "$root"
mkdir -p "$out"
npx --yes @anthropic-ai/mcpb@2.1.2 pack "$work" "$out/codelens.mcpb"
