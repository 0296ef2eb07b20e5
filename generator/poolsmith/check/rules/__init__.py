"""Manifest rules, one file each; `registry` lists them."""
