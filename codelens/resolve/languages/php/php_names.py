"""Names in PHP: by autoload rules, else by the namespaces that the files of the view declare."""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE, FileModel
from codelens.resolve.facts.path_tree import nearest
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.languages.classes.class_names import ClassNames, Space
from codelens.resolve.languages.php.php_autoload import is_include


class PhpNames(ClassNames):
    """Names in PHP."""

    def in_package(self, path: bytes, package: str, name: str) -> list[Referent]:
        """Definitions of a namespace; where no rule leads to them, those of the nearest file."""
        referents = super().in_package(path, package, name)
        if referents:
            return referents
        index = self.view.index("php namespaces", lambda: self.by_package("php"))
        referents = index.get(package, {}).get(name, [])
        files = nearest(path, dict.fromkeys(referent.path for referent in referents))
        return [referent for referent in referents if referent.path in files]

    def _in_file(
        self, path: bytes, model: FileModel, name: str, space: Space, arguments: int
    ) -> list[Referent]:
        referents = super()._in_file(path, model, name, space, arguments)
        if referents or space != "call" or not model.package:
            return referents
        # A function that its namespace has not is the global one.
        return [
            referent
            for referent in self.fitting(self.in_package(path, "", name), arguments)
            if self._is_function(referent)
        ]

    def imports_of(self, model: FileModel, name: str) -> list[int]:
        """Clauses of `use` bind the last part of what they name; an included file binds none."""
        tail = "\\" + name
        by_last = [
            at
            for at, import_ in enumerate(model.imports)
            if not import_.alias
            and not import_.name
            and (import_.module == name or import_.module.endswith(tail))
        ]
        numbers = [*super().imports_of(model, name), *by_last]
        return [at for at in numbers if not is_include(model.imports[at].module)]

    def _is_function(self, referent: Referent) -> bool:
        model = self.view.model(referent.path)
        return model is not None and model.symbols[referent.symbol].kind in CALLABLE

    def _in_type(
        self, path: bytes, model: FileModel, at: int, name: str, *, space: Space, arguments: int
    ) -> list[Referent]:
        """Nothing that a class has is known by its bare name, but for its type parameters."""
        if space != "type" or name not in model.parameters.get(at, ()):
            return []
        return [Referent(path, LOCAL, at, name)]

    def qualified(self, path: bytes, name: str) -> list[Referent]:
        """What a name with a namespace before it means, by `use` or from its own namespace."""
        model = self.view.model(path)
        if model is None:
            return []
        head, _, rest = name.partition(".")
        for import_ in model.imports:
            module = import_.module.replace("\\", ".").strip(".")
            whole = f"{module}.{import_.name}" if import_.name and import_.name != "*" else module
            if (import_.alias or whole.rpartition(".")[2]) == head:
                package, _, last = f"{whole}.{rest}".rpartition(".")
                return self.in_package(path, package, last)
        package, _, last = f"{model.package}.{name}".strip(".").rpartition(".")
        return self.in_package(path, package, last)
