"""Attacks: programs that run as long as one likes, and short forms of them as tests."""
