"""Policies: what does the cluster, or the reviewer, refuse?"""
