; Definitions. One that is neither public nor protected is visible only in its package.
(package_declaration [(identifier) (scoped_identifier)] @name) @definition.module
(module_declaration) @definition.module
(class_declaration) @definition.class
(record_declaration) @definition.class
(interface_declaration) @definition.interface
(annotation_type_declaration) @definition.interface
(enum_declaration) @definition.enum
(enum_constant name: (_) @export) @definition.member
(enum_constant body: (_) @body)
(method_declaration) @definition.method
(constructor_declaration) @definition.method
(compact_constructor_declaration) @definition.method
(annotation_type_element_declaration) @definition.method
(field_declaration) @definition.field
(field_declaration declarator: (variable_declarator name: (_) @name))
(field_declaration (modifiers) @hint)
(constant_declaration) @definition.constant
(constant_declaration declarator: (variable_declarator name: (_) @name))
(variable_declarator value: (object_creation_expression arguments: (_) @body (class_body)))
(variable_declarator value: (lambda_expression body: (block) @body))
(record_declaration parameters: (formal_parameters (formal_parameter) @definition.field @export))
(record_declaration parameters: (formal_parameters
  (spread_parameter (variable_declarator name: (_) @name)) @definition.field @export))
(object_creation_expression (class_body) @scope)
(modifiers (marker_annotation) @decorator)
(module_declaration (marker_annotation) @decorator)
(package_declaration (marker_annotation) @decorator)
(modifiers (annotation) @decorator)
(modifiers "public" @export)
(modifiers "protected" @export)
(modifiers "private" @private)

; Docs.
(line_comment) @comment
(block_comment) @comment

; References.
(method_invocation name: (_) @reference.call)
(explicit_constructor_invocation constructor: [(super) (this)] @reference.call)
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @reference.call)
(object_creation_expression type: (generic_type
  . [(type_identifier) (scoped_type_identifier)] @reference.call))
(type_identifier) @reference.type
(type_parameter (type_identifier) @type.parameter)
(marker_annotation name: (_) @reference.type)
(annotation name: (_) @reference.type)
(record_pattern . (identifier) @reference.type)
(method_reference (_) (identifier) @reference.name .)
(method_reference . (identifier) @reference.bound)
(primary_expression/identifier) @reference.bound
(assignment_expression left: (identifier) @reference.bound)
(resource . (identifier) @reference.bound .)
(switch_label (identifier) @reference.bound @reference.key.case)
(field_access field: (identifier) @reference.name)

; Imports.
(import_declaration (identifier) @import.module) @import
(import_declaration
  (scoped_identifier scope: (_) @import.module name: (_) @import.name) .) @import
(import_declaration [(identifier) (scoped_identifier)] @import.module (asterisk) @import.all) @import
(requires_module_directive module: (_) @import.module) @import

; Scopes and bindings.
(package_declaration [(identifier) (scoped_identifier)] @bind.package)
[
  (method_declaration)
  (constructor_declaration)
  (compact_constructor_declaration)
  (annotation_type_element_declaration)
  (lambda_expression)
] @scope.function
[
  (class_declaration)
  (record_declaration)
  (interface_declaration)
  (annotation_type_declaration)
  (enum_declaration)
  (enum_constant body: (_))
] @scope.class
(object_creation_expression (class_body)) @scope.class
[
  (block)
  (for_statement)
  (enhanced_for_statement)
  (catch_clause)
  (try_with_resources_statement)
  (switch_block)
] @scope.block
(method_invocation object: (_) @receiver)
(field_access object: (_) @receiver)
(scoped_type_identifier) @chain
(method_reference . (_) @receiver)
(argument_list) @call.arguments
(local_variable_declaration (variable_declarator) @bind)
(field_declaration (variable_declarator) @bind)
(constant_declaration (variable_declarator) @bind)
(resource name: (_)) @bind
(formal_parameter) @bind.parameter
(spread_parameter) @bind.rest
(catch_formal_parameter) @bind.parameter
(lambda_expression parameters: (identifier) @bind.parameter)
(inferred_parameters (identifier) @bind.parameter)
(enhanced_for_statement) @bind.each
(instanceof_expression name: (_)) @bind
(type_pattern) @bind
(record_pattern_component) @bind
(type_parameter) @bind.type
(method_declaration type: (_) @bind.result)
(annotation_type_element_declaration type: (_) @bind.result)
(superclass (_) @bind.base)
(super_interfaces (type_list (_) @bind.implements))
(extends_interfaces (type_list (_) @bind.implements))
(object_creation_expression type: (_) @bind.base (class_body))
