"""Answers: the results of searches and reads as lines and records within a token budget."""
