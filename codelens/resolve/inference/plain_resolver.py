"""The resolver of Python, JavaScript, TypeScript and all languages without rules of their own."""

from __future__ import annotations

from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.expression_values import Expressions
from codelens.resolve.inference.members import Members, unnamed_overrides
from codelens.resolve.inference.name_lookup import Names
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.languages.angular import Templates
from codelens.resolve.languages.python import PossibleUses
from codelens.resolve.view_files import View


def resolver(view: View) -> Resolver:
    """Build a resolver for one view."""
    plain = Resolver(view, Names(view))
    uses = PossibleUses(plain)
    plain.extra_edges = lambda path, model: unnamed_overrides(path, model, plain)
    plain.possible, plain.overriding = uses.possible, uses.overriding
    return plain.join(
        Annotations(plain), Members(plain), Calls(plain), Expressions(plain), Templates(plain)
    )
