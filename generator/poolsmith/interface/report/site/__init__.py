"""A fleet as pages for any static host: a map, a page for each cluster and pool, and what time does to them."""
