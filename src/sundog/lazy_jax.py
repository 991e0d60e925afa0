"""JAX and optax, loaded when they are first used: most methods never do, and would pay a second and 130 MB for them.

    from sundog.lazy_jax import Array, jax, jit, jnp

means what the same names mean in JAX; `jit` compiles at the first call.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, update_wrapper
from importlib import import_module
from importlib.util import find_spec
from os import environ
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

__all__ = ["Array", "accelerated", "jax", "jit", "jnp", "optax"]

Given = ParamSpec("Given")
Made = TypeVar("Made")
PLUGINS = ("jax_plugins", "libtpu")
"""Packages without which JAX knows no device but the processor."""


class _Lazily:
    """A module that is imported when something in it is asked for."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)


if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
    import optax
    from jax import Array
else:
    Array = Any
    jax, jnp, optax = (_Lazily(module) for module in ("jax", "jax.numpy", "optax"))


class Compiled(Generic[Given, Made]):
    """A function that JAX compiles at its first call."""

    def __init__(self, function: Callable[Given, Made], static: Sequence[str]) -> None:
        update_wrapper(self, function)
        self.function = function
        self.static = tuple(static)

    @cached_property
    def compiled(self) -> Any:
        """What JAX makes of it."""
        return jax.jit(self.function, static_argnames=self.static)

    def __call__(self, *args: Given.args, **named: Given.kwargs) -> Made:
        """Compile the function at its first call, and return its result."""
        return cast(Made, self.compiled(*args, **named))


def jit(*, static: Sequence[str] = ()) -> Callable[[Callable[Given, Made]], Compiled[Given, Made]]:
    """Have a function compiled; `static` names the arguments that it is compiled for."""
    return lambda function: Compiled(function, static)


def accelerated() -> bool:
    """Whether JAX computes on something else than the processor; JAX is asked only where it could."""
    if environ.get("JAX_PLATFORMS") == "cpu" or not any(find_spec(name) for name in PLUGINS):
        return False
    return bool(jax.default_backend() != "cpu")
