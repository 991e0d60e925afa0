"""JAX is loaded and functions are compiled at their first use."""

import numpy as np

from sundog import lazy_jax
from sundog.lazy_jax import Compiled, accelerated, jit, jnp


def test_a_function_is_compiled_once_and_at_its_first_call():
    traced = []

    @jit(static=("power",))
    def raised(values, *, power):
        traced.append(power)
        return values**power

    assert isinstance(raised, Compiled)
    assert traced == []
    for power in (2, 2, 3):
        assert np.allclose(raised(jnp.arange(3.0), power=power), np.arange(3.0) ** power)
    assert traced == [2, 3]


def test_a_processor_is_no_accelerator_and_jax_is_asked_only_where_there_could_be_one(monkeypatch):
    asked = []
    monkeypatch.setattr(lazy_jax, "jax", type("Fake", (), {"default_backend": lambda: asked.append(1) or "gpu"}))
    monkeypatch.setattr(lazy_jax, "find_spec", lambda name: object())
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert not accelerated()
    assert asked == []
    monkeypatch.delenv("JAX_PLATFORMS")
    assert accelerated()
    monkeypatch.setattr(lazy_jax, "find_spec", lambda name: None)
    assert not accelerated()
    assert asked == [1]
