"""Drivers: which driver fits this system, kernel, GPU?"""
