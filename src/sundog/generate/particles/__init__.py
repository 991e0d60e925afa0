"""Particles moved by sliced-Wasserstein gradients: PrivPGD."""
