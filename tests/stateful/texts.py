"""Texts for generated histories: small programs over a small vocabulary, so that queries match."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = (
    "session validate token parser render queue retry config cache walker index merge header "
    "socket buffer stream"
).split()

TEMPLATES = {
    ".py": '''"""{doc}"""
import os
from {a} import {b}


class {A}{B}:
    """Keeps the {a}."""

    limit = {n}

    def {c}_{a}(self, {b}):
        """Tell whether {b} is a {c}."""
        return {b}.{c}({n})


def {b}_{c}({a}):
    return {A}{B}().{c}_{a}({a})
''',
    ".js": """// {doc}
import {{ {b} }} from './{a}.js';

export class {A}{B} {{
  {c}{A}({b}) {{ return {b}.{c}({n}); }}
}}

export const {b}{C} = ({a}) => new {A}{B}().{c}{A}({a});
""",
    ".ts": """// {doc}
export interface {A}{B} {{ {c}: number; {a}(x: string): void }}
export type {C}{A} = {A}{B} | null;
export function {b}{C}({a}: {A}{B}): number {{ return {a}.{c} + {n}; }}
""",
    ".go": """// Package {a} has {doc}
package {a}

// {A}{B} keeps the {c}.
type {A}{B} struct {{ {c} int }}

// {C}{A} is used by {b}.
func (s *{A}{B}) {C}{A}({b} int) int {{ return s.{c} + {n} + {b} }}
""",
    ".c": """/* {doc} */
#include "{a}.h"
#define {a}_{b}_MAX {n}

struct {a}_{b} {{ int {c}; }};

/* {c} of the {a} */
static int {b}_{c}(struct {a}_{b} *{a}) {{ return {a}->{c} + {n}; }}
""",
    ".md": """# {A} {B}

{doc}

## How to {c} a {a}

Call `{b}_{c}` {n} times.
""",
    ".txt": "{doc}\n{a} {b} {c} {n}\n",
}

names = st.sampled_from(NAMES)


@st.composite
def texts(draw: st.DrawFn, suffix: str) -> bytes:
    a, b, c = draw(names), draw(names), draw(names)
    doc = " ".join(draw(st.lists(names, min_size=1, max_size=5)))
    template = TEMPLATES.get(suffix, TEMPLATES[".txt"])
    values = {"a": a, "b": b, "c": c, "A": a.title(), "B": b.title(), "C": c.title()}
    return template.format(**values, doc=doc, n=draw(st.integers(10, 99))).encode()


FOLDERS = ("", "src/", "src/core/", "lib/a b/", "tests/", "build/")

paths = st.builds(
    lambda folder, stem, suffix: folder + stem + suffix,
    st.sampled_from(FOLDERS),
    st.sampled_from((*NAMES[:8], "index", "naïve", "odd[1]")),
    st.sampled_from((*TEMPLATES, ".log")),
)

IGNORES = (
    "*.log\n", "build/\n", "build/\n!build/keep.txt\n", "*.txt\n!token.txt\n", "/src/core\n",
    "lib/**/*.js\n", "# nothing\n", "index.*\n", "\n", "*\n!*/\n!*.py\n",
)  # fmt: skip

QUERIES = (
    "session", "validate session", "how is the token parser rendered", "SessionToken",
    "retry_queue", "config.py", "walker merge header buffer", "cache",
)  # fmt: skip
