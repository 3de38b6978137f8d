"""The methods of `Engine`, by capability: each builds a request and passes it on."""
