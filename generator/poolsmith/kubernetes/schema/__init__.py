"""Schema: is an object what its kind allows?"""
