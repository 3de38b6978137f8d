#!/bin/sh
# Print the Homebrew formula of a release: put it into a tap as Formula/codelens.rb.
#
#   sh install/homebrew/fill_formula.sh OWNER/NAME SDIST
#
# OWNER/NAME is the repository on GitHub that has the release, SDIST its codelens-VERSION.tar.gz.
set -eu

if [ $# != 2 ]; then
    echo "usage: fill_formula.sh OWNER/NAME SDIST" >&2
    exit 2
fi
version=$(basename "$2" .tar.gz)
version=${version#codelens-}
if command -v sha256sum >/dev/null; then
    digest=$(sha256sum "$2")
else
    digest=$(shasum -a 256 "$2") # macOS
fi
sed -e "s|@REPOSITORY@|$1|g" -e "s|@VERSION@|$version|g" -e "s|@SHA256@|${digest%% *}|g" \
    "$(dirname "$0")/codelens.rb.in"
