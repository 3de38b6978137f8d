#!/bin/sh
# Refuse a tag that no maintainer signed: sh .github/verify_tag.sh TAG
#
# .github/allowed_signers has the keys, in the form of ssh-keygen(1), one a line:
#   name@example.com namespaces="git" ssh-ed25519 AAAA...
# It is read from the first parent of the tagged commit: a release cannot bring its own signer.
set -eu

tag=$1
if [ "$(git cat-file -t "refs/tags/$tag")" != tag ]; then
    echo "verify_tag: $tag is not an annotated tag: git tag -s $tag" >&2
    exit 1
fi
signers=$(mktemp)
trap 'rm -f "$signers"' EXIT
git show "refs/tags/$tag^{commit}^:.github/allowed_signers" >"$signers"
if ! grep -q '^[^#]' "$signers"; then
    echo "verify_tag: no key may sign: add one to .github/allowed_signers, a commit before" >&2
    exit 1
fi
git -c gpg.ssh.allowedSignersFile="$signers" verify-tag "$tag"
