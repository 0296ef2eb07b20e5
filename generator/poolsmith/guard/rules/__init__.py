"""Rules: what else is wrong?"""
