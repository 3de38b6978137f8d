; Definitions.
(field_definition) @definition.field
(field_definition value: [
  (arrow_function)
  (function_expression)
]) @definition.method

; CommonJS.
(assignment_expression left: (member_expression) right: (class)) @definition.class
(assignment_expression left: (member_expression) right: (identifier) @export.name) @scope
(assignment_expression left: (member_expression) right: (object)) @scope
(assignment_expression left: (member_expression) right: (object [
  (shorthand_property_identifier) @export.name
  (pair value: (identifier) @export.name)
]))

; References.
(class_heritage [(identifier) (member_expression)] @reference.type)

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
