"""A small repository with an example of everything in the graph, and helpers to ask about it."""

from __future__ import annotations

import json
from collections.abc import Callable

BASE = '''\
class Item:
    """A thing to buy."""

    def price(self):
        return 1
'''
BOOK = """\
from shop.base import Item


class Book(Item):
    def price(self):
        return tax(2)


def tax(amount):
    return amount


def lonely():
    return 0
"""
CART = """\
from shop.book import Book


def total():
    return Book().price()


def show(thing):
    thing.price()
    return total()
"""
TEST = """\
from shop.cart import show


def test_show():
    assert show(None)
"""
FILES = {
    "shop/__init__.py": "",
    "shop/base.py": BASE,
    "shop/book.py": BOOK,
    "shop/cart.py": CART,
    "tests/test_cart.py": TEST,
    "tests/test_book.py": "def test_nothing():\n    pass\n",
    "pyproject.toml": '[project.scripts]\nshop = "shop.cart:show"\n',
}


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> dict:
        return json.loads(self.out)


Run = Callable[..., Ran]
