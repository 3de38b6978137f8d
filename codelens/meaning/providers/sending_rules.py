"""Which files are never sent to a provider, by their names.

By what is in it a file is left out as well: `codelens.secret_masking.holds_key`.
"""

from __future__ import annotations

import re

_NAMES = re.compile(
    rb"""(?:^|/)(?:
        \.env(?:[.-][^/]*)?|[^/]*\.env|\.envrc|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd
        |\.git-credentials|\.dockercfg|\.vault[-_]?pass[^/]*
        |id_(?:rsa|dsa|ecdsa|ed25519)[^/]*
        |[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx?|ppk|asc|gpg|age|ovpn|tfvars|tfstate[^/]*)
        |[^/]*(?:credential|secret|passw(?:or)?d)s?\.(?:json|ya?ml|toml|ini|cfg|conf|txt|xml
            |properties|env|csv)
    )$
    |(?:^|/)(?:\.ssh|\.gnupg|\.aws|\.docker|\.kube|secrets?|credentials)/""",
    re.VERBOSE | re.IGNORECASE,
)


def may_hold_secrets(path: bytes) -> bool:
    """Whether a file is known by its path to hold keys or passwords."""
    return _NAMES.search(path) is not None
