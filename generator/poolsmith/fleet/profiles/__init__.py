"""Profiles: what does a pool say it is?"""
