"""The texts of a new project: profiles, policies, and the files by which its repository runs and folds them."""
