; Definitions. Values without parameters count unless they are local.
(value_definition) @extent
(compilation_unit (value_definition (let_binding
  pattern: [(value_name) (parenthesized_operator)]) @definition.variable))
(structure (value_definition (let_binding
  pattern: [(value_name) (parenthesized_operator)]) @definition.variable))
(compilation_unit (value_definition (let_binding
  pattern: (tuple_pattern (value_name) @name)) @definition.variable))
(compilation_unit (value_definition (let_binding
  pattern: (parenthesized_pattern (tuple_pattern (value_name) @name))) @definition.variable))
