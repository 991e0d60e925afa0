"""Deliberate faults: those with a name, those that a hash draws, and how one is put into the modules of a running process.

A fault is put in by giving a function that exists already the code of the faulty one, so that whoever holds the function has
the fault, and nothing is imported again. Compiled kernels are plain functions here (NUMBA_DISABLE_JIT=1).
"""

import ast
import gc
import hashlib
import importlib
import inspect
import sys
import tomllib
import types
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mutation.points import mutated, points

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src" / "sundog"
PARTS = {"private": 0.4, "sources": 0.3, "queries": 0.3}
"""Where faults are drawn, and which share of them; of queries only what is about sensitivities."""
OF_QUERIES = ("sensitivity", "block_l1", "_agreeing", "_enumerated", "squared", "l1", "linf", "most")
BESIDE = {"queries": ("domain/unit.py",)}


@dataclass(frozen=True)
class Fault:
    """One fault: its name, the module, and the module's text with it."""

    name: str
    module: str
    text: str

    @property
    def path(self):
        return SOURCE / self.module

    @property
    def key(self):
        """What a verdict on this fault holds for: this change of this text."""
        return hashlib.sha256((self.name + self.path.read_text(encoding="utf-8") + self.text).encode()).hexdigest()

    @property
    def module_name(self):
        return "sundog." + self.module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")

    @property
    def functions(self):
        """The names of the functions that it changes, the outermost ones."""
        return [name for name, _ in _changed(self)[0]]


def named():
    """The faults that have a name: texts that are exchanged."""
    for name, entry in tomllib.loads((HERE / "named.toml").read_text(encoding="utf-8")).items():
        source = (SOURCE / entry["module"]).read_text(encoding="utf-8")
        if source.count(entry["old"]) < 1:
            sys.exit(f"named.toml: {name!r} is stale: its text is not in {entry['module']}; bring it up to date.")
        yield Fault(name, entry["module"], source.replace(entry["old"], entry["new"]))


def drawn(count):
    """Faults at places that a hash chooses among all of them, the same ones on every machine."""
    for part, share in PARTS.items():
        found = []
        for path in [*sorted((SOURCE / part).glob("**/*.py")), *(SOURCE / name for name in BESIDE.get(part, ()))]:
            module, source = path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")
            for point in points(source):
                if part != "queries" or any(word in point.function.split(".")[-1] for word in OF_QUERIES):
                    name = f"{module}:{point.function}#{point.place} {point.what}"
                    found.append((hashlib.sha256(name.encode()).hexdigest(), name, module, source, point))
        for _, name, module, source, point in sorted(found)[: round(share * count)]:
            yield Fault(name, module, mutated(source, point))


def put_in(fault):
    """Change this process: functions get the faulty code, constants the faulty value."""
    module = importlib.import_module(fault.module_name)
    functions, constants = _changed(fault)
    codes = _codes(compile(fault.text, str(fault.path), "exec"))
    for name, _ in functions:
        victims = [each for each in gc.get_objects() if _is(each, fault.path, name)]
        if not victims:
            raise LookupError(f"{fault.module}: no function {name} in this process")
        for victim in victims:
            victim.__code__ = codes[name]
    for name, value in constants:
        setattr(module, name, value)


@contextmanager
def fault_in(fault):
    """The same for a while, of functions that nothing has wrapped or copied: for tests that need many faults."""
    module = importlib.import_module(fault.module_name)
    functions, constants = _changed(fault)
    codes = _codes(compile(fault.text, str(fault.path), "exec"))
    victims = [(_found(module, name), name) for name, _ in functions]
    sound = [(victim, victim.__code__) for victim, _ in victims]
    before = [(name, getattr(module, name)) for name, _ in constants]
    try:
        for victim, name in victims:
            victim.__code__ = codes[name]
        for name, value in constants:
            setattr(module, name, value)
        yield
    finally:
        for victim, code in sound:
            victim.__code__ = code
        for name, value in before:
            setattr(module, name, value)


def _found(module, name):
    """The function of a name, also of a property."""
    found = module
    for part in name.split("."):
        found = vars(found)[part]
    for inside in ("fget", "func", "__func__"):
        found = getattr(found, inside, found)
    return inspect.unwrap(found)


def _is(thing, path, name):
    return (
        type(thing) is types.FunctionType
        and thing.__code__.co_filename == str(path)
        and thing.__code__.co_qualname == name
    )


def _codes(code):
    found = {}
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= {inner.co_qualname: inner, **_codes(inner)}
    return found


def _changed(fault):
    """The functions, and the constants of the module, that differ from the sound text."""
    sound, faulty = (_parts(ast.parse(text)) for text in (fault.path.read_text(encoding="utf-8"), fault.text))
    differ = [name for name, node in faulty.items() if name not in sound or ast.dump(node) != ast.dump(sound[name])]
    functions = [(name, faulty[name]) for name in differ if isinstance(faulty[name], ast.FunctionDef)]
    constants = [
        (name, ast.literal_eval(faulty[name].value)) for name in differ if isinstance(faulty[name], ast.Assign)
    ]
    return functions, constants


def _parts(node, prefix=""):
    """Outermost functions, methods, and the assignments of the module, by name."""
    found = {}
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            found |= _parts(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            found[prefix + child.name] = child
        elif isinstance(child, ast.Assign) and not prefix and isinstance(child.targets[0], ast.Name):
            found[child.targets[0].id] = child
    return found
