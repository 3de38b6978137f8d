"""Records what a Python program calls, in the format of `traced_calls.rb`.

`tracedcalls.py` copies this to a `sitecustomize.py` on PYTHONPATH. A constructor is named as the
class constructed.
"""

import ast
import atexit
import json
import os
import sys
import threading
from opcode import opmap
from types import CodeType, FrameType

ROOT = f"{os.path.realpath(os.environ['TRACE_ROOT'])}/"
CALLS = set[tuple[CodeType, int, CodeType, "type | None"]]()
FILES = dict[type, str]()
BEGINS = dict[CodeType, int]()


def begin(code: CodeType) -> int:
    """Marks the first run of a code object; a resumed generator was called before."""
    if code not in BEGINS:
        is_inside = code.co_filename.startswith(ROOT)
        BEGINS[code] = code.co_code[::2].find(opmap["RESUME"]) * 2 if is_inside else -1
    return BEGINS[code]


def note(frame: FrameType, event: str, _: object) -> None:
    """Records a call from one definition to another."""
    caller, code = frame.f_back, frame.f_code
    if event != "call" or caller is None or frame.f_lasti > begin(code):
        return
    if begin(caller.f_code) >= 0:
        made = None
        if code.co_name in {"__init__", "__new__"} and code.co_argcount:
            first = frame.f_locals.get(code.co_varnames[0])
            made = type(first)
            if isinstance(first, type):
                # A class statement runs the `__init__` of a metaclass.
                made = first if code.co_name == "__new__" else None
        if made is not None:
            file_of(made)
        CALLS.add((caller.f_code, caller.f_lineno, code, made))


def definitions(path: str) -> "list[tuple[str, int, int, str, int, str]]":
    """Kind, first and last line, name, line of the name, and qualified name."""
    with open(ROOT + path, "rb") as file:
        pending = [(part, "") for part in ast.parse(file.read()).body]
    rows: list[tuple[str, int, int, str, int, str]] = []
    for node, around in pending:
        inside = around
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            is_type = isinstance(node, ast.ClassDef)
            whole = f"{around}{node.name}"
            inside = f"{whole}." if is_type else f"{whole}.<locals>."
            first = min(part.lineno for part in (node, *node.decorator_list))
            kind, name = ("CLASS", "") if is_type else ("DEF", node.name)
            rows.append((kind, first, node.end_lineno or 0, name, node.lineno, whole))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            rows += [("DEF", node.value.lineno, node.end_lineno or 0, name, node.lineno, "")
                     for name in names[:1]]  # fmt: skip
        pending += [(child, inside) for child in ast.iter_child_nodes(node)]
    return rows


def file_of(made: type) -> str:
    """The file of the module of a class, as of its first call: tests reset `sys.modules`."""
    if made not in FILES:
        FILES[made] = getattr(sys.modules.get(made.__module__), "__file__", "") or ""
    return FILES[made]


def written() -> None:
    """Writes all recorded calls."""
    sys.setprofile(None)
    files = {code.co_filename for call in CALLS for code in (call[0], call[2])}
    files |= {file_of(call[3]) for call in CALLS if call[3] is not None}
    rows = {path[len(ROOT):]: definitions(path[len(ROOT):])
            for path in files if path.startswith(ROOT) and path.endswith(".py")}  # fmt: skip
    defs = {(path, row[1]): row for path in rows for row in rows[path] if row[0] == "DEF"}
    types = {(path, row[5]): row[4] for path in rows for row in rows[path] if row[0] == "CLASS"}
    with open(f"{os.environ['TRACE_OUT']}.{os.getpid()}", "w", encoding="utf-8") as out:
        for caller, line, code, made in CALLS:
            if not caller.co_filename.endswith(".py"):
                continue
            called, constructed = code.co_filename[len(ROOT) :], None
            row = defs.get((called, code.co_firstlineno))
            if row is None:
                continue
            name = row[3]
            if made is not None:
                name = made.__name__
                place = file_of(made)[len(ROOT) :]
                at = types.get((place, made.__qualname__))
                constructed = f"{place}:{at}" if at else None
            call = [caller.co_filename[len(ROOT) :], line, called, row[4], name, constructed]
            out.write(json.dumps({"call": call}) + "\n")
        for path, found in rows.items():
            out.write(json.dumps({"file": path, "definitions": [row[:5] for row in found]}) + "\n")


atexit.register(written)
threading.setprofile(note)
sys.setprofile(note)
