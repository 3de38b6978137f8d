"""The resolution rules of C and C++."""
