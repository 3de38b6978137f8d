"""The resolution rules of each language: names, types and overloads."""
