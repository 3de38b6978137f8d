"""What is to be saved or loaded, as callers give it; and the context that a saving makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codelens.errors import SettingError
from codelens.memory import context_fields
from codelens.store.saved.context_rows import Context, Item
from codelens.types import Receipt

_DEFAULT_CATEGORY = "note"


class LoadRequest(NamedTuple):
    """Which contexts are to be shown; see `Engine.load`."""

    query: str = ""
    category: str = ""
    tags: Sequence[str] = ()
    handle: str = ""
    status: str = ""
    expired: bool = False
    limit: int = 20


class SaveRequest(NamedTuple):
    """What is to be saved; see `Engine.save`. Of an update what is empty stays as it was."""

    name: str
    note: str = ""
    handles: Sequence[str] = ()
    category: str = ""
    tags: Sequence[str] = ()
    pinned: bool | None = None
    ttl: str = ""
    replace: bool = False
    update: bool = False

    def checked(self) -> SavedFields:
        """The fields, fit to be stored.

        Raises:
            SettingError: one of them cannot be, or there is nothing to save.
        """
        if self.replace and self.update:
            raise SettingError(
                "replace and update cannot be combined: update leaves what is not given as it was"
            )
        fields = SavedFields(
            context_fields.name_of(self.name),
            context_fields.note_of(self.note),
            context_fields.category_of(self.category) if self.category.strip() else "",
            context_fields.tags_of(self.tags),
            context_fields.seconds_of(self.ttl),
        )
        code = fields.note or self.handles
        rest = fields.category or fields.tags or self.ttl.strip() or self.pinned is not None
        if self.update and not (code or rest):
            raise SettingError(
                "nothing to update: give a note, handles, a category, tags, pin or ttl"
            )
        if not self.update and not code:
            raise SettingError("nothing to save: give a note, handles, or both")
        if len(self.handles) > context_fields.MAX_ITEMS:
            raise SettingError(
                f"{len(self.handles)} handles are too many; the maximum is "
                f"{context_fields.MAX_ITEMS}"
            )
        return fields


class SavedFields(NamedTuple):
    """The fields of a saving, checked."""

    name: str
    note: str
    category: str
    tags: tuple[str, ...]
    ttl_s: int | None

    def new(
        self, request: SaveRequest, items: tuple[Item, ...], receipt: Receipt, now_s: int
    ) -> Context:
        """A context of these fields alone."""
        return Context(
            name=self.name,
            note=self.note,
            category=self.category or _DEFAULT_CATEGORY,
            tags=self.tags,
            pinned=bool(request.pinned),
            created_s=now_s,
            saved_s=now_s,
            expires_s=None if self.ttl_s is None else now_s + self.ttl_s,
            branch=receipt.branch,
            head=receipt.head,
            items=items,
        )

    def over(
        self, old: Context, request: SaveRequest, items: tuple[Item, ...], now_s: int
    ) -> Context:
        """A context with the fields that are given changed, and the others as they were."""
        expires_s = old.expires_s
        if request.ttl.strip():
            expires_s = None if self.ttl_s is None else now_s + self.ttl_s
        return old._replace(
            note=self.note or old.note,
            category=self.category or old.category,
            tags=self.tags or old.tags,
            pinned=old.pinned if request.pinned is None else request.pinned,
            saved_s=now_s,
            expires_s=expires_s,
            items=items or old.items,
        )
