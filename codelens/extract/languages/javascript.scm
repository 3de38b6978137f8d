; Definitions.
(field_definition property: (_) @name) @definition.field
(field_definition property: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @definition.method

; CommonJS.
(assignment_expression
  left: (member_expression
    object: (identifier) @_module property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression !name body: (_) @body)
  ]
  (#eq? @_module "module") (#eq? @name "exports")) @definition.function @export
(assignment_expression
  left: (member_expression
    object: (identifier) @_module property: (property_identifier) @_exports)
  right: [
    (function_expression name: (_) @name body: (_) @body) @definition.function
    (identifier) @export.name
    (object (shorthand_property_identifier) @export.name)
    (object (pair value: (identifier) @export.name))
  ]
  (#eq? @_module "module") (#eq? @_exports "exports")) @export
(assignment_expression
  left: (member_expression
    object: (identifier) @_module property: (property_identifier) @_exports)
  right: [
    (class name: (_) @name body: (_) @body) @definition.class
    (object)
  ]
  (#eq? @_module "module") (#eq? @_exports "exports")) @export
(assignment_expression
  left: (member_expression
    object: [
      (identifier) @_exports
      (member_expression
        object: (identifier) @_module property: (property_identifier) @_exports
        (#eq? @_module "module"))
    ]
    property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]
  (#eq? @_exports "exports")) @definition.function @export
(assignment_expression
  left: (member_expression object: (_) @_exports)
  right: (identifier) @export.name
  (#any-of? @_exports "exports" "module.exports"))

; References.
(class_heritage [
  (identifier) @reference.type
  (member_expression property: (_) @reference.type)
])
