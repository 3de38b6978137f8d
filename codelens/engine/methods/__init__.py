"""The methods of `Engine`, by capability: each builds a request and hands it on."""
