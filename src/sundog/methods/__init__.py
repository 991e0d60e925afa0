"""Named methods: recipes as data, and the loop that runs them."""
