"""Compiled kernels over one record per table (see docs/ARCHITECTURE.md)."""
