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

; What another module defines, exported again: `exports.a = require("./b").c`, `exports = { a: b.c }`.
(assignment_expression
  left: (member_expression property: (property_identifier) @import.alias)
  right: (call_expression function: (identifier) @import.call
    arguments: (arguments . (string) @import.module .))) @import.exported
(assignment_expression
  left: (member_expression property: (property_identifier) @import.alias)
  right: (member_expression
    object: (call_expression function: (identifier) @import.call
    arguments: (arguments . (string) @import.module .))
    property: (property_identifier) @import.name)) @import.exported
(assignment_expression left: (member_expression) right: (object (pair
  key: (property_identifier) @import.alias
  value: (call_expression function: (identifier) @import.call
    arguments: (arguments . (string) @import.module .))) @import.exported))
(assignment_expression left: (member_expression) right: (object (pair
  key: (property_identifier) @import.alias
  value: (member_expression
    object: (call_expression function: (identifier) @import.call
    arguments: (arguments . (string) @import.module .))
    property: (property_identifier) @import.name)) @import.exported))
(assignment_expression left: (member_expression) right: [
  (identifier)
  (member_expression object: (identifier))
]) @import.again
(assignment_expression left: (member_expression) right: (object (pair value: [
  (identifier)
  (member_expression object: (identifier))
]) @import.again))
; A part of a module: `const a = require("./b").c`.
(variable_declarator
  name: (identifier) @import.alias
  value: (member_expression
    object: (call_expression function: (identifier) @import.call
    arguments: (arguments . (string) @import.module .))
    property: (property_identifier) @import.name)) @import
