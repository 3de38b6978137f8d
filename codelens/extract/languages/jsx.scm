; Elements with a capital name are components: using one calls it.
(jsx_opening_element name: (_) @reference.call (#match? @reference.call "^[A-Z]"))
(jsx_self_closing_element name: (_) @reference.call (#match? @reference.call "^[A-Z]"))
(jsx_expression (identifier) @reference.bound)
