"""Facts of flow come back from their blob as they went in."""

from __future__ import annotations

import pytest

from codelens.store.flow import packed, unpacked
from codelens.types import Binding, Reference, Scope, Structure

SCOPES = (Scope(-1, -1, "module"), Scope(0, 3, "function"))
BINDINGS = (Binding(1, "one", "=", "two()", 7),)


@pytest.mark.parametrize("arguments", [-2, -1, 0, 1, 250])
def test_references_keep_receiver_scope_and_arguments(arguments: int) -> None:
    told = (
        Reference("run", "call", 3, 4, 0, "self.job", 1, arguments),
        Reference("é\udcff", "name", 9, 0, -1),
    )
    bare = [Reference(*one[:5]) for one in told]
    scopes, bindings, references = unpacked(
        packed(Structure((), told, (), (), SCOPES, BINDINGS)), bare
    )
    assert (tuple(scopes), tuple(bindings), tuple(references)) == (SCOPES, BINDINGS, told)
