"""What a text binds and uses: scopes, bindings, references and expressions."""
