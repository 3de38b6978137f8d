"""Names in PHP: by autoload rules, else by the namespaces that the files of the view declare."""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE, FileModel
from codelens.resolve.facts.path_tree import nearest
from codelens.resolve.inference.name_lookup import Hit
from codelens.resolve.languages.classes.class_names import ClassNames, Space


class PhpNames(ClassNames):
    """Names in PHP."""

    def in_package(self, path: bytes, package: str, name: str) -> list[Hit]:
        """Definitions of a namespace; where no rule leads to them, those of the nearest file."""
        found = super().in_package(path, package, name)
        if found:
            return found
        index = self.view.index("php namespaces", lambda: self.by_package("php"))
        found = index.get(package, {}).get(name, [])
        files = nearest(path, dict.fromkeys(hit.path for hit in found))
        return [hit for hit in found if hit.path in files]

    def _in_file(
        self, path: bytes, model: FileModel, name: str, space: Space, arguments: int
    ) -> list[Hit]:
        found = super()._in_file(path, model, name, space, arguments)
        if found or space != "call" or not model.package:
            return found
        # A function that its namespace has not is the global one.
        return [
            hit
            for hit in self.fitting(self.in_package(path, "", name), arguments)
            if self._is_function(hit)
        ]

    def _is_function(self, hit: Hit) -> bool:
        model = self.view.model(hit.path)
        return model is not None and model.symbols[hit.symbol].kind in CALLABLE

    def _in_type(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space, arguments: int
    ) -> list[Hit]:
        """Nothing that a class has is known by its bare name."""
        return []

    def qualified(self, path: bytes, name: str) -> list[Hit]:
        """What a name with a namespace before it means, by `use` or from its own namespace."""
        model = self.view.model(path)
        if model is None:
            return []
        head, _, rest = name.partition(".")
        for one in model.imports:
            module = one.module.replace("\\", ".").strip(".")
            whole = f"{module}.{one.name}" if one.name and one.name != "*" else module
            if (one.alias or whole.rpartition(".")[2]) == head:
                package, _, last = f"{whole}.{rest}".rpartition(".")
                return self.in_package(path, package, last)
        package, _, last = f"{model.package}.{name}".strip(".").rpartition(".")
        return self.in_package(path, package, last)
