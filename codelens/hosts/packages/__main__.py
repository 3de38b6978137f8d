"""In a checkout: `python -m codelens.hosts.packages` writes the packages.

`--registry NAMESPACE` prints the entry of the MCP registry instead.
"""

from __future__ import annotations

import argparse
import sys

from codelens.errors import CodelensError
from codelens.hosts.packages.agent_packages import registry_entry, write
from codelens.paths import shipped


def main(arguments: list[str]) -> int:
    """Write or print; 2 if that cannot be."""
    parser = argparse.ArgumentParser(prog="python -m codelens.hosts.packages", description=__doc__)
    parser.add_argument("--registry", metavar="NAMESPACE")
    namespace = parser.parse_args(arguments).registry
    if namespace is None:
        checkout = shipped("install").parent
        for path in write(checkout):
            (checkout / path).unlink()
        return 0
    try:
        sys.stdout.write(registry_entry(namespace))
    except CodelensError as error:
        sys.stderr.write(f"codelens: error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
