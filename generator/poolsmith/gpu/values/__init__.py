"""Values: do Helm values mean anything, and what?"""
