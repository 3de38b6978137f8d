; Definitions.
(function_signature name: (_) @name) @definition.function
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(abstract_method_signature name: (_) @name) @definition.method
(method_signature name: (_) @name) @definition.method
(public_field_definition name: (_) @name) @definition.field
(public_field_definition name: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @definition.method
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(interface_body (property_signature name: (_) @name) @definition.property)
(type_alias_declaration name: (_) @name) @definition.type
(type_alias_declaration value: (object_type
  (property_signature name: (_) @name) @definition.property))
(type_alias_declaration value: (intersection_type (object_type
  (property_signature name: (_) @name) @definition.property)))
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_assignment name: (_) @name) @definition.member
(enum_body name: (_) @name @definition.member)
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_) @body) @definition.module
(ambient_declaration) @extent
(expression_statement (internal_module)) @extent
(accessibility_modifier "private") @private

(internal_module body: (statement_block (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name) @definition.constant) @extent))
(internal_module body: (statement_block (lexical_declaration kind: "let"
  (variable_declarator name: (identifier) @name) @definition.variable) @extent))
(ambient_declaration (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name) @definition.constant) @extent)
(ambient_declaration [
  (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name)
    @definition.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)
] @extent)

; References.
(type_identifier) @reference.type
(extends_clause value: [
  (identifier) @reference.type
  (member_expression property: (_) @reference.type)
])
(as_expression . (identifier) @reference.bound)

; Imports.
(import_require_clause (identifier) @import.alias source: (string) @import.module) @import
