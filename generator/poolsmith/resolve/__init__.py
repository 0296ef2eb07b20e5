"""Resolve: profiles and catalog to a plan, with a reason for every decision."""
