"""Models the common types of the JDK, Kotlin and .NET, and parses types and signatures."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from codelens.resolve.inference.type_text import bracketed
from codelens.resolve.inference.values import Container, Value

_COLLECTION = "Collection Iterable"
_MAP = "Map Cloneable Serializable AbstractMap"
_TEXTS = {
    "ArrayList": f"List AbstractList AbstractCollection RandomAccess Serializable {_COLLECTION}",
    "BitSet": "Cloneable Serializable",
    "BooleanArray": "",
    "ByteArray": "",
    "Calendar": "Cloneable Serializable Comparable",
    "CharArray": "",
    "Charset": "Comparable",
    "Class": "Type Serializable AnnotatedElement GenericDeclaration Constable TypeDescriptor",
    "Collection": "Iterable",
    "Date": "Cloneable Serializable Comparable",
    "DoubleArray": "",
    "File": "Comparable Serializable",
    "FloatArray": "",
    "HashMap": _MAP,
    "HashSet": f"Set AbstractSet AbstractCollection Serializable {_COLLECTION}",
    "InputStream": "Closeable AutoCloseable",
    "IntArray": "",
    "LinkedHashMap": f"HashMap SequencedMap {_MAP}",
    "LinkedList": f"List AbstractList AbstractCollection Deque Queue Serializable {_COLLECTION}",
    "List": f"SequencedCollection {_COLLECTION}",
    "Locale": "Cloneable Serializable",
    "LongArray": "",
    "Map": "",
    "MutableList": f"List {_COLLECTION} MutableCollection MutableIterable",
    "MutableMap": "Map",
    "OutputStream": "Closeable AutoCloseable Flushable",
    "PrintStream": "OutputStream FilterOutputStream Appendable Closeable AutoCloseable Flushable",
    "PrintWriter": "Writer Appendable Closeable AutoCloseable Flushable",
    "Properties": "Hashtable Dictionary Map Cloneable Serializable",
    "Reader": "Readable Closeable AutoCloseable",
    "Set": _COLLECTION,
    "ShortArray": "",
    "StringBuffer": "CharSequence Appendable Comparable Serializable",
    "StringBuilder": "CharSequence Appendable Comparable Serializable",
    "StringReader": "Reader TextReader Readable Closeable AutoCloseable IDisposable",
    "StringWriter": "Writer TextWriter Appendable Closeable AutoCloseable Flushable IDisposable",
    "TreeMap": f"SortedMap NavigableMap SequencedMap {_MAP}",
    "Type": "MemberInfo IReflect AnnotatedType",
    "URI": "Comparable Serializable",
    "URL": "Serializable",
    "Writer": "Appendable Closeable AutoCloseable Flushable",
    "XElement": "XContainer XNode XObject IXmlSerializable",
    "XmlDocument": "XmlNode",
    "CultureInfo": "ICloneable IFormatProvider",
    "DateTime": "IComparable IFormattable IConvertible ISerializable IEquatable",
    "DateTimeOffset": "IComparable IFormattable ISerializable IEquatable",
    "Guid": "IComparable IFormattable IEquatable",
    "TimeSpan": "IComparable IFormattable IEquatable",
    "CancellationToken": "IEquatable",
    "MemoryStream": "Stream IDisposable IAsyncDisposable",
    "Stream": "IDisposable IAsyncDisposable",
}
ABOVE = {name: frozenset(text.split()) for name, text in _TEXTS.items()}
"""Standard library type -> all of its supertypes except for `Object`."""
GIVES = {
    "toString": "String",
    "hashCode": "int",
    "getClass": "Class",
    "toCharArray": "char[]",
    "getBytes": "byte[]",
    "ToString": "string",
    "GetHashCode": "int",
    "GetType": "Type",
    "byteValue": "byte",
    "shortValue": "short",
    "intValue": "int",
    "longValue": "long",
    "floatValue": "float",
    "doubleValue": "double",
    "booleanValue": "boolean",
    "toByteArray": "ByteArray",
    "toInt": "int",
    "toLong": "long",
    "toByte": "byte",
    "toShort": "short",
    "toDouble": "double",
    "toFloat": "float",
    "toChar": "char",
}
"""Method of any value -> its result, unless the view defines another."""


# Types and signatures in the syntax of Java, Kotlin, C# and PHP.

_WILDCARD = re.compile(r"\?\s*(?:extends|super)\s+")
_ANNOTATION = re.compile(r"@[\w.]+(?:\([^()]*\))?\s*")
_VARIANCE = re.compile(r"(?<=[<,])\s*(?:in|out)\s+(?=[\w?])")
_THIS = re.compile(r"\(\s*this\s+(?:ref\s+|in\s+)?([\w.]+(?:<[^()]*?>)?)\s+\w+")
_DELEGATE = re.compile(
    r"\b(?:Func|Action|Predicate|Comparison|Converter|EventHandler|dynamic|event"
    r"|\w*(?:Delegate|Handler|Callback|Factory))\b"
)
_OWN = frozenset({"static", "self", "$this"})
_MOST = 1 << 30
_NOTED = re.compile(r"^(?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s*|\[[^\[\]]*\]\s*)+")
_MODIFIERS = frozenset({"final", "this", "params", "ref", "out", "in", "scoped", "readonly"})


class Arity(NamedTuple):
    """The number of arguments that a function accepts."""

    least: int
    most: int

    def takes(self, count: int) -> bool:
        """Whether a function accepts this number of arguments."""
        return self.least <= count <= self.most


INDEXER = "this"
"""The name of a C# indexer, a property with parameters: `int this[int i]`."""


@lru_cache(maxsize=20_000)
def class_type(text: str) -> str:
    """Translate a type to the syntax that `codelens.resolve.inference.type_text` parses."""
    if text.lstrip("?") in _OWN:
        return "this"
    text = _ANNOTATION.sub("", text).removeprefix("final ").strip()
    text = _WILDCARD.sub("", text).replace("<?", "<any").replace(", ?", ", any")
    text = _VARIANCE.sub(" ", text)
    if "\\" in text:
        # Facts put a PHP base with a namespace in backquotes, which expressions never have.
        text = text.strip("`").removeprefix("\\")
    text = text.replace("\\", ".").replace("?", "").replace("!", "").replace("global::", "")
    return text[:-3] + "[]" if text.endswith("...") else text


class Parameter(NamedTuple):
    """A parameter of a function."""

    name: str
    type: str
    many: bool = False
    """Whether it accepts any number of arguments; in C#, its type is then the array type."""
    receiver: bool = False
    """Whether it is the receiver of a C# extension."""


@lru_cache(maxsize=20_000)
def parameters(signature: str, name: str, language: str) -> tuple[Parameter, ...] | None:
    """Parse the parameters of a Java, Kotlin or C# signature; None if it cannot be parsed."""
    parts = _listed(signature, name)
    if parts is None:
        return None
    return tuple(_parameter(part, language) for part in parts)


def _parameter(part: str, language: str) -> Parameter:
    part = _NOTED.sub("", _NOTED.sub("", part).removeprefix("final "))
    if language == "kotlin":
        name, _, text = part.partition(":")
        before = name.split()
        return Parameter(before[-1] if before else "", _default(text), "vararg" in before)
    text = _default(part)
    first, blank, rest = text.partition(" ")
    words: set[str] = set()
    while blank and first in _MODIFIERS:
        words.add(first)
        first, blank, rest = rest.partition(" ")
        text = f"{first} {rest}"
    is_variadic = "params" in words or "..." in text
    kind, _, name = text.replace("...", " ").strip().rpartition(" ")
    return Parameter(name, kind.strip(), is_variadic, "this" in words)


def _default(text: str) -> str:
    """Strip the default value from a parameter."""
    return re.split(r"(?<![=<>!])=(?![>=])", text, maxsplit=1)[0].strip()


@lru_cache(maxsize=20_000)
def arity(signature: str, name: str) -> Arity:
    """Return the number of arguments from the parameter list after the name in a signature."""
    parts = _listed(signature, name)
    if parts is None:
        return Arity(0, _MOST)
    open_ended = any("..." in part or part.startswith(("params ", "vararg ")) for part in parts)
    optional = sum(
        "=" in part or "..." in part or part.startswith(("params ", "vararg ")) for part in parts
    )
    return Arity(len(parts) - optional, _MOST if open_ended else len(parts))


@lru_cache(maxsize=20_000)
def extended(signature: str, name: str, language: str) -> str:
    """Return the receiver type of an extension; empty for other functions."""
    if language == "csharp":
        match = _THIS.search(signature)
    elif f".{name}(" not in signature:
        # Most functions are not extensions; a regex for each name would dominate the time.
        return ""
    else:
        match = re.search(
            rf"\bfun\s+(?:<[^()]*>\s*)?([\w.]+(?:<[^()]*>)?)\??\.{re.escape(name)}\(", signature
        )
    return match[1] if match else ""


def is_delegate(signature: str) -> bool:
    """Whether a C# property or field may be callable by its declared type."""
    return _DELEGATE.search(signature) is not None


@lru_cache(maxsize=20_000)
def is_explicit(signature: str, name: str) -> bool:
    """Whether a C# member explicitly implements an interface: `void IList.Add(object x)`."""
    at = signature.find("." + name)
    return at > 0 and "(" not in signature[:at] and "=" not in signature[:at]


@lru_cache(maxsize=20_000)
def generics(signature: str, name: str) -> int:
    """Return the number of type parameters of a type."""
    match = re.search(rf"\b{re.escape(name)}\s*<([^<>]*)>", signature)
    return match[1].count(",") + 1 if match else 0


def _listed(signature: str, name: str) -> list[str] | None:
    """Return the parameters as written; None if the signature has no parameter list."""
    at = signature.find(name + "(")
    if at < 0 and name == INDEXER:
        at = signature.find(name + "[")
        return bracketed(signature, at + len(name)) if at >= 0 else None
    if at < 0:
        at = signature.find("(") - len(name)
    if at + len(name) < 0 or "(" not in signature:
        return None
    return bracketed(signature, at + len(name))


# The results of methods of collections and other standard types in Java, Kotlin and C#.

_ELEMENTS = frozenset(
    "get getFirst getLast next previous remove poll peek pop first last take element orElse "
    "orElseGet orElseThrow getOrDefault put computeIfAbsent getOrNull find single First Last "
    "firstOrNull lastOrNull singleOrNull elementAt getValue getOrPut maxByOrNull minByOrNull "
    "maxBy minBy random removeFirst removeLast peekFirst peekLast pollFirst pollLast "
    "LastOrDefault ElementAt FirstOrDefault Single SingleOrDefault Dequeue Pop Peek".split()
)
_SAME = frozenset(
    "stream iterator listIterator filter sorted distinct limit skip reversed subList toList "
    "asSequence sortedBy sortedByDescending sortedWith distinctBy drop dropWhile takeWhile "
    "toMutableList toSet toTypedArray asReversed filterNot OrderByDescending Distinct Take "
    "findFirst findAny parallelStream collect Where OrderBy ToList ToArray Reverse Skip".split()
)
"""Methods of collections that return an element or a collection of the same elements."""
MAPS = frozenset(
    "Map HashMap LinkedHashMap TreeMap ConcurrentHashMap ConcurrentMap SortedMap NavigableMap "
    "MutableMap Dictionary IDictionary ConcurrentDictionary EnumMap WeakHashMap".split()
)


ENUM_METHODS = {"from": False, "tryFrom": False, "valueOf": False, "cases": True, "values": True}
"""Methods that every enum has -> whether they return all members (Java, Kotlin, PHP)."""
ENTRY = "Entry"
_ENTRIES = frozenset({ENTRY, "KeyValuePair"})
_PARTS = {"getKey": 0, "key": 0, "Key": 0, "getValue": 1, "value": 1, "Value": 1}


PROPERTIES = frozenset({"Keys", "Values", "entries", "keys", "values", *_PARTS})
"""Members of collections that are also read without a call."""


def part_of_entry(value: Container, name: str) -> Value:
    """Return the key or the value of a map entry."""
    if value.name.rpartition(".")[2] not in _ENTRIES or len(value.args) < len(_ENTRIES):
        return None
    at = _PARTS.get(name, -1)
    return value.args[at] if at >= 0 else None


def result_of_any_method(name: str) -> Value:
    """Return the result of a method that any value has."""
    text = GIVES.get(name, "")
    if text.endswith("[]"):
        return Container("[]", (Container(text[:-2], ()),))
    return Container(text, ()) if text else None


def awaited(value: Value) -> Value:
    """Return the result of a task."""
    if isinstance(value, Container) and value.name.rpartition(".")[2] in {"Task", "ValueTask"}:
        return value.args[0] if value.args else None
    return value


def of_collection(value: Container, name: str) -> Value:
    """Return the result of a collection method."""
    if not value.args:
        return None
    if name in _PARTS and value.name not in MAPS:
        return part_of_entry(value, name)
    if value.name in MAPS:
        if name in {"entrySet", "entries"}:
            return Container("Set", (Container(ENTRY, value.args),))
        if name in {"values", "Values"}:
            return Container("Collection", value.args[-1:])
        if name in {"keySet", "keys", "Keys"}:
            return Container("Set", value.args[:1])
        return value.args[-1] if name in _ELEMENTS else None
    if name in _ELEMENTS:
        return value.args[0]
    return value if name in _SAME else None
