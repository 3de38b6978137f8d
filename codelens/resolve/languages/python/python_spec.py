"""Python, and notebooks."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "python": LanguageSpec(
        modules="python.python_modules:PythonModules",
        named_in_texts=True,
        follows_names=True,
        needs_receiver=True,
        class_names=True,
        keeps_names=True,
        submodules=True,
        ordered=True,
        overload_declarations=True,
        stubs=((b".pyi", (b".py", b".pyx")),),
        named_arguments=True,
        constructors=frozenset({"__init__", "__new__", "__post_init__"}),
        star_spreads=True,
        imports_are_complete=True,
    ),
    "jupyter": LanguageSpec(
        modules="python.python_modules:PythonModules",
        follows_names=True,
        spaces=True,
        instance=frozenset({"this"}),
    ),
}
