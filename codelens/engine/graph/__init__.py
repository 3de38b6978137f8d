"""The use graph of a view: who uses a definition or file, certainly or possibly."""
