; Exports by assignment.
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
