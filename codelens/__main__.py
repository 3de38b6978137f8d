"""`python -m codelens`: the command line."""

from __future__ import annotations

import sys

from codelens.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
