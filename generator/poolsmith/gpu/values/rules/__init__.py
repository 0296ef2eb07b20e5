"""Rules over Helm values, one file each; `registry.py` beside this folder lists them."""
