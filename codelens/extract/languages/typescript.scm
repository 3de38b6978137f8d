; Definitions.
(function_signature) @definition.function
(abstract_class_declaration) @definition.class
(abstract_method_signature) @definition.method
(method_signature) @definition.method
(public_field_definition) @definition.field
(public_field_definition value: [
  (arrow_function)
  (function_expression)
]) @definition.method
(required_parameter (accessibility_modifier)) @definition.field
(interface_declaration) @definition.interface
(interface_body (property_signature) @definition.property)
(type_alias_declaration) @definition.type
(type_alias_declaration value: (object_type (property_signature) @definition.property))
(type_alias_declaration value: (intersection_type
  (object_type (property_signature) @definition.property)))
(enum_declaration) @definition.enum
(enum_assignment) @definition.member
(enum_body name: (_) @name @definition.member)
(internal_module) @definition.module
(module) @definition.module
(ambient_declaration) @extent
(accessibility_modifier "private") @private
(internal_module body: (statement_block
  (lexical_declaration (variable_declarator) @definition.variable) @extent))
(ambient_declaration (lexical_declaration (variable_declarator) @definition.variable) @extent)
(ambient_declaration (variable_declaration (variable_declarator) @definition.variable) @extent)

; References.
(type_identifier) @reference.type
(extends_clause value: [(identifier) (member_expression)] @reference.type)

; Imports.
(import_require_clause (identifier) @import.alias source: (string) @import.module)
