"""Where a deliberate fault can be put into a module, and the module with that fault: small changes of its syntax tree.

A comparison turned, a constant one higher, an operator exchanged, a branch swapped, a refusal left out. Annotations,
decorators, docstrings and the texts of messages are left alone.
"""

import ast
import copy
from dataclasses import dataclass

COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATE = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip
NAMES = {"max": "min", "min": "max", "any": "all", "all": "any", "round_up": "round_down", "round_down": "round_up"}
SKIPPED = (ast.JoinedStr, ast.arguments, ast.ImportFrom, ast.Import)


@dataclass(frozen=True)
class Point:
    """One possible fault: the function it is in, its place there in order of appearance, the line, and what it changes."""

    function: str
    place: int
    line: int
    what: str


def points(source):
    """All points of a module."""
    return [point for point, _ in _walk(ast.parse(source))]


def mutated(source, wanted):
    """The module with one fault."""
    tree = ast.parse(source)
    change = next(change for point, change in _walk(tree) if point == wanted)
    change()
    return ast.unparse(ast.fix_missing_locations(tree))


def _walk(tree):
    counts = {}
    for function, node, parent, field in _nodes(tree, ""):
        for what, change in _changes(node, parent, field):
            counts[function] = counts.get(function, -1) + 1
            yield Point(function, counts[function], node.lineno, what), change


def _nodes(node, function, within=False):
    """All nodes `within` functions, with the function's name, the parent and the place in it."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or isinstance(child, SKIPPED):
                continue
            inside, inner = function, within
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = f"{function}.{child.name}".strip(".")
                inner = within or isinstance(child, ast.FunctionDef)
            elif within:
                yield inside, child, node, (field, index if isinstance(value, list) else None)
            if not isinstance(child, ast.Raise):
                yield from _nodes(child, inside, inner)


def _changes(node, parent, field):
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARE:
        turned = COMPARE[type(node.ops[0])]
        yield f"{type(node.ops[0]).__name__} -> {turned.__name__}", lambda: node.ops.__setitem__(0, turned())
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATE:
        other = OPERATE[type(node.op)]
        yield f"{type(node.op).__name__} -> {other.__name__}", lambda: setattr(node, "op", other())
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} -> {other.__name__}", lambda: setattr(node, "op", other())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield f"{node.value} -> {_next(node.value)}", lambda: setattr(node, "value", _next(node.value))
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"{node.value} -> {not node.value}", lambda: setattr(node, "value", not node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
        yield f"{node.func.id} -> {NAMES[node.func.id]}", lambda: setattr(node.func, "id", NAMES[node.func.id])
    elif isinstance(node, ast.IfExp):
        yield "branches swapped", lambda: _swap(node)
    elif isinstance(node, ast.Raise):
        yield "raise left out", lambda: _replace(parent, field, ast.Pass())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not left out", lambda: _replace(parent, field, copy.deepcopy(node.operand))


def _next(value):
    return value + 1 if isinstance(value, int) else value * 2 or 1.0


def _swap(node):
    node.body, node.orelse = node.orelse, node.body


def _replace(parent, field, new):
    name, index = field
    if index is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[index] = new
