"""Repository: what would a delivery engine apply from these files?"""
