; Definitions.
(function_signature) @definition.function
(abstract_class_declaration) @definition.class
(abstract_method_signature) @definition.method
(method_signature) @definition.method
(method_signature ["get" "set"]) @definition.property
(public_field_definition) @definition.field
(public_field_definition value: [
  (arrow_function)
  (function_expression)
]) @definition.method
(required_parameter [(accessibility_modifier) "readonly"]) @definition.field
(optional_parameter [(accessibility_modifier) "readonly"]) @definition.field
(interface_declaration) @definition.interface
(property_signature) @definition.property
(type_alias_declaration) @definition.type
(export_statement (lexical_declaration (variable_declarator
  value: (as_expression (object (pair) @definition.field)))))
(import_alias . (identifier) @name) @definition.type
(enum_declaration) @definition.enum
(enum_assignment) @definition.member
(enum_body name: (_) @name @definition.member)
(internal_module) @definition.module
(module) @definition.module
(module name: (string) @export)
(ambient_declaration (declaration)) @extent
(ambient_declaration "global") @scope @export
; What a namespace holds is visible if marked, and all of it where it is but declared.
(internal_module body: (statement_block) @scope)
(ambient_declaration (internal_module body: (statement_block) @export))
(accessibility_modifier "private") @private
(internal_module body: (statement_block
  (lexical_declaration (variable_declarator) @definition.variable) @extent))
(module body: (statement_block
  (lexical_declaration (variable_declarator) @definition.variable) @extent))
(ambient_declaration (statement_block
  (variable_declaration (variable_declarator) @definition.variable) @extent))
(ambient_declaration (lexical_declaration (variable_declarator) @definition.variable) @extent)
(ambient_declaration (variable_declaration (variable_declarator) @definition.variable) @extent)

; References.
(type_identifier) @reference.type
(nested_type_identifier module: (identifier) @reference.bound)
(type_query (identifier) @reference.bound)
(type_parameter name: (_) @type.parameter)
(infer_type (type_identifier) @type.parameter)
(mapped_type_clause name: (_) @type.parameter)
(extends_clause value: [(identifier) (member_expression)] @reference.type)

; Imports.
(import_require_clause (identifier) @import.alias source: (string) @import.module)
