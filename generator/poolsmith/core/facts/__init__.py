"""The data files that come with poolsmith, and what packs of a project add to them."""
