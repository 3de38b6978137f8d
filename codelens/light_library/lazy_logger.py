"""A module's logger, of which `logging` is imported when there is something to say: 3 ms."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging import Logger

    def logger_of(module: str) -> Logger:
        """The logger of a module, by its name."""
        ...
else:

    class logger_of:
        """What `logging.getLogger` gives for a module, by its name."""

        __slots__ = ("_module",)

        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> object:
            import logging

            return getattr(logging.getLogger(self._module), name)
