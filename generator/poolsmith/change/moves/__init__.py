"""How does a cluster, a pool or a delivery move, in steps that are each safe to stop at?"""
