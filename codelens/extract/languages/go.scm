; Definitions. A declaration with one spec is the extent of the spec.
(function_declaration) @definition.function
(method_declaration) @definition.method
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (generic_type type: (_) @owner)
  (pointer_type [(type_identifier) @owner (generic_type type: (_) @owner)])
  (pointer_type (parenthesized_type (type_identifier) @owner))
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
(field_declaration !name) @definition.field
(field_declaration !name type: (type_identifier) @name)
(field_declaration !name type: (qualified_type name: (_) @name))
(field_declaration !name type: (generic_type type: (type_identifier) @name))
(field_declaration !name type: (generic_type type: (qualified_type name: (_) @name)))
(const_spec (identifier) @name) @definition.constant
(var_spec name: (identifier) @name) @definition.variable
(var_spec name: (identifier) value: (expression_list . (func_literal) .)) @definition.function

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
(type_parameter_declaration name: (_) @type.parameter)
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (generic_type (type_arguments (type_elem (type_identifier) @type.parameter)))
  (pointer_type (generic_type (type_arguments (type_elem (type_identifier) @type.parameter))))
])))
(_expression/identifier) @reference.bound
(selector_expression field: (_) @reference.name)
(literal_value (keyed_element . (literal_element (identifier) @reference.key)))

; Imports.
(import_spec) @import
(import_spec name: [(package_identifier) (blank_identifier)] @import.alias)
(import_spec name: (dot) @import.all)
(import_spec path: (_) @import.module)

; Scopes and bindings.
(package_clause (package_identifier) @bind.package)
(source_file (comment) @bind.built . (comment)? . (package_clause))
[
  (function_declaration)
  (method_declaration)
  (func_literal)
  (method_elem)
] @scope.function
(type_spec) @scope.class
(type_alias) @scope.class
[
  (block)
  (if_statement)
  (for_statement)
  (expression_switch_statement)
  (type_switch_statement)
  (expression_case)
  (type_case)
  (default_case)
  (communication_case)
] @scope.block
(selector_expression) @chain
(qualified_type) @chain
(short_var_declaration) @bind
(var_spec) @bind
(const_spec) @bind
(range_clause) @bind.range
(receive_statement) @bind
(type_switch_statement alias: (expression_list (identifier) @bind.unknown))
(type_case . type: (_) . ":") @bind
(parameter_list (_) @bind.parameter)
(type_spec type: (struct_type (field_declaration_list (field_declaration) @bind)))
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: (_) @bind.base))))
(interface_type (type_elem (_) @bind.base))
(function_declaration result: (_) @bind.result)
(method_declaration result: (_) @bind.result)
(method_elem result: (_) @bind.result)
(func_literal result: (_) @bind.result)
(type_spec type: (_) @bind.alias)
(type_alias type: (_) @bind.alias)
(type_parameter_declaration) @bind.type
