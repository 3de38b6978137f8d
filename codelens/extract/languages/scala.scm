; Definitions.
(package_clause) @definition.module
(package_object) @definition.class
(class_definition) @definition.class
(object_definition) @definition.class
(trait_definition) @definition.trait
(enum_definition) @definition.enum
(simple_enum_case) @definition.member
(full_enum_case) @definition.member
(full_enum_case (class_parameters (class_parameter) @definition.field))
(class_definition "case" (class_parameters (class_parameter) @definition.field))
(class_parameter "val") @definition.field
(class_parameter "var") @definition.field
(type_definition) @definition.type
(function_definition) @definition.function
(function_declaration) @definition.function
(instance_expression (template_body (function_definition) @definition.method))
(with_template_body (function_definition) @definition.method)
(given_definition name: (_)) @definition.constant
(given_definition !name) @scope
(given_definition body: (_) @body)
(extension_definition) @scope
(extension_definition (parameters
  (parameter type: [(type_identifier) (generic_type)] @owner)))
(instance_expression (template_body) @scope)
(template_body [(val_definition) (var_definition)] @definition.variable)
(template_body [(val_declaration) (var_declaration)] @definition.variable)
(instance_expression (template_body [(val_definition) (var_definition)] @definition.field))
(with_template_body (val_definition) @definition.field)
(enum_body (val_definition) @definition.field)
(object_definition body: (template_body (val_definition) @definition.constant))
(package_object body: (template_body (val_definition) @definition.constant))
(compilation_unit [(val_definition) (var_definition)] @definition.variable)
(val_definition pattern: (identifiers (identifier) @name))
(var_definition pattern: (identifiers (identifier) @name))
(val_definition value: [(block) (case_block) (indented_block) (lambda_expression) (match_expression)] @body)
(val_definition value: (instance_expression (template_body)) @body)
(annotation) @decorator
(modifiers (access_modifier "private" @private))

; Docs.
(comment) @comment
(block_comment) @comment

; References. A field may be a method without arguments.
(call_expression function: [
  (identifier) @reference.call
  (field_expression field: (identifier) @reference.call)
  (generic_function function: (identifier) @reference.call)
  (generic_function function: (field_expression field: (identifier) @reference.call))
])
(instance_expression [(type_identifier) (stable_type_identifier)] @reference.call)
(instance_expression (generic_type type: (_) @reference.call))
(infix_expression operator: (identifier) @reference.call)
(infix_expression operator: (operator_identifier) @reference.bound.call)
(type_identifier) @reference.type
(type_parameters (identifier) @type.parameter)
(covariant_type_parameter name: (identifier) @type.parameter)
(contravariant_type_parameter name: (identifier) @type.parameter)
(field_expression value: (identifier) @reference.bound)
(field_expression field: (identifier) @reference.name)
(stable_identifier (identifier) @reference.bound)
(arguments (identifier) @reference.bound)
(val_definition value: (identifier) @reference.bound)
(function_definition body: (identifier) @reference.bound)
(case_clause [(identifier) (stable_identifier)] @reference.bound)
(infix_expression left: (identifier) @reference.bound)
(infix_expression right: (identifier) @reference.bound)
(block (identifier) @reference.bound)
(indented_block (identifier) @reference.bound)
(if_expression (identifier) @reference.bound)
(prefix_expression (identifier) @reference.bound)

; Imports.
; Not by field: in a path that repeats, tree-sitter matches only some parts.
(import_declaration [(identifier) (operator_identifier)] @import.module) @import
(import_declaration (namespace_wildcard) @import.all)
(namespace_selectors (identifier) @import.name)
(namespace_selectors (namespace_wildcard) @import.all)
(arrow_renamed_identifier name: (_) @import.name alias: (identifier) @import.alias)
(as_renamed_identifier name: (_) @import.name alias: (identifier) @import.alias)
