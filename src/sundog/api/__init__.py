"""The Python front doors; `sundog` re-exports them."""
