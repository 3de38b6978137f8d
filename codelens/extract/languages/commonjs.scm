; Exports by assignment, and imports by calls.
(assignment_expression left: (member_expression) right: (class)) @definition.class
(assignment_expression left: (member_expression) right: (assignment_expression
  left: (member_expression)
  right: [(arrow_function) (function_expression)])) @definition.function
(assignment_expression left: (member_expression) right: (identifier) @export.name) @scope
(assignment_expression left: (member_expression) right: (object)) @scope
(program (expression_statement (assignment_expression
  left: (member_expression) @form.keyword
  right: [
    (string)
    (template_string)
    (number)
    (array)
    (regex)
    (true)
    (false)
    (null)
    (call_expression)
    (new_expression)
    (member_expression)
    (binary_expression)
    (unary_expression)
    (ternary_expression)
    (await_expression)
  ]) @form))
(assignment_expression left: (member_expression) right: (object [
  (shorthand_property_identifier) @export.name
  (pair value: (identifier) @export.name)
]))
(assignment_expression left: (member_expression) right: (object (pair) @definition.field))

; Imports.
(call_expression function: (identifier) @import.call
  arguments: (arguments . (string) @import.module .)) @import
(variable_declarator
  name: [
    (identifier) @import.alias
    (object_pattern [
      (shorthand_property_identifier_pattern) @import.name
      (pair_pattern key: (_) @import.name value: (identifier) @import.alias)
    ])
  ]
  value: (call_expression function: (identifier) @import.call
    arguments: (arguments . (string) @import.module .))) @import
