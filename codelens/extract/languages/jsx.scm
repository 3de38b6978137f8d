; An element whose name the file defines or imports is a component: using one calls it.
(jsx_opening_element name: (_) @reference.bound.call)
(jsx_self_closing_element name: (_) @reference.bound.call)
(jsx_opening_element name: (member_expression object: (identifier) @reference.bound))
(jsx_self_closing_element name: (member_expression object: (identifier) @reference.bound))
(jsx_expression (member_expression property: (property_identifier) @reference.name))
