; Definitions.
(field_definition) @definition.field
(field_definition value: [
  (arrow_function)
  (function_expression)
]) @definition.method

; CommonJS.
(assignment_expression left: (member_expression) right: (class)) @definition.class
(assignment_expression left: (member_expression) @_left right: [
  (identifier) @export.name
  (object [
    (shorthand_property_identifier) @export.name
    (pair value: (identifier) @export.name)
  ])
] (#match? @_left "^(module\\.)?exports\\b"))

; References.
(class_heritage [(identifier) (member_expression)] @reference.type)

; Imports.
(call_expression function: (identifier) @_require
  arguments: (arguments . (string) @import.module .)
  (#eq? @_require "require")) @import
(variable_declarator
  name: [
    (identifier) @import.alias
    (object_pattern [
      (shorthand_property_identifier_pattern) @import.name
      (pair_pattern key: (_) @import.name value: (identifier) @import.alias)
    ])
  ]
  value: (call_expression function: (identifier) @_require
    arguments: (arguments . (string) @import.module .))
  (#eq? @_require "require")) @import
