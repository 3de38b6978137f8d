; Definitions. A declaration with one spec is its spec's extent.
(function_declaration) @definition.function
(method_declaration) @definition.method
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (generic_type type: (_) @owner)
  (pointer_type [(type_identifier) @owner (generic_type type: (_) @owner)])
])))
(type_declaration) @extent
(const_declaration) @extent
(var_declaration) @extent
(type_spec) @definition.type
(type_alias) @definition.type
(type_spec type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec type: (interface_type "{" @body)) @definition.interface
(method_elem) @definition.method
(field_declaration name: (_) @name) @definition.field
(const_spec (identifier) @name) @definition.constant
(var_spec name: (identifier) @name) @definition.variable

; Docs.
(comment) @comment

; References.
(call_expression function: [
  (identifier) @reference.call
  (selector_expression field: (_) @reference.call)
  (index_expression operand: (_) @reference.call)
])
(type_conversion_expression type: (generic_type type: (_) @reference.call))
(type_identifier) @reference.type
(argument_list (identifier) @reference.bound)
(argument_list (selector_expression field: (_) @reference.name))
(expression_list (identifier) @reference.bound)
(keyed_element value: (literal_element (identifier) @reference.bound))
(literal_value (literal_element (identifier) @reference.bound))

; Imports.
(import_spec) @import
(import_spec name: [(package_identifier) (blank_identifier)] @import.alias)
(import_spec name: (dot) @import.all)
(import_spec path: (_) @import.module)
