"""Ledger: what may each workload do, why, and who granted it?"""
