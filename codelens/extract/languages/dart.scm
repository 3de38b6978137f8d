; Definitions. A function's body follows its signature as a sibling.
(function_body) @body.after
(program (function_signature) @definition.function)
(program (getter_signature) @definition.property)
(program (setter_signature) @definition.property)
(program (initialized_identifier_list
  (initialized_identifier . (identifier) @name) @definition.variable))
(program (static_final_declaration_list
  (static_final_declaration . (identifier) @name) @definition.variable))
(program (const_builtin) . (static_final_declaration_list
  (static_final_declaration) @definition.constant))
(program (const_builtin) . (_) . (static_final_declaration_list
  (static_final_declaration) @definition.constant))
(program [
  (const_builtin) (final_builtin) (inferred_type) (type_identifier) (type_arguments)
  (nullable_type) (function_type) (record_type) "late"
] @lead)
(class_definition) @definition.class
(class_definition (mixin_application_class . (identifier) @name))
(mixin_declaration (identifier) @name (class_body) @body) @definition.trait
(extension_declaration name: (_)) @definition.class
(extension_declaration !name class: (_) @owner) @scope
(extension_type_declaration) @definition.class
(representation_declaration) @definition.field
(enum_declaration) @definition.enum
(enum_constant) @definition.member
(type_alias . (type_identifier) @name "=") @definition.type
(type_alias (type_identifier) @name . (formal_parameter_list)) @definition.type
(method_signature) @definition.method
(method_signature (getter_signature)) @definition.property
(method_signature (setter_signature)) @definition.property
(declaration (function_signature)) @definition.method
(declaration (getter_signature)) @definition.property
(declaration (setter_signature)) @definition.property
(declaration (operator_signature)) @definition.method
(declaration (constructor_signature)) @definition.method
(declaration (constant_constructor_signature)) @definition.method
(declaration (factory_constructor_signature)) @definition.method
(declaration (redirecting_factory_constructor_signature)) @definition.method
(declaration (initialized_identifier_list)) @definition.field
(declaration (final_builtin) (static_final_declaration_list)) @definition.field
(declaration (const_builtin) (static_final_declaration_list)) @definition.constant
(local_function_declaration) @definition.function
(lambda_expression body: (_) @body)

; Names. The name of a named constructor follows its class.
(function_signature name: (_) @name)
(getter_signature name: (_) @name)
(setter_signature name: (_) @name)
(operator_signature (binary_operator) @name)
(operator_signature "[]" @name)
(operator_signature "[]=" @name)
(operator_signature "~" @name)
(constructor_signature . (identifier) @name . (formal_parameter_list))
(constructor_signature (identifier) . (identifier) @name . (formal_parameter_list))
(constant_constructor_signature
  (const_builtin) . (identifier) @name . (formal_parameter_list))
(constant_constructor_signature (identifier) . (identifier) @name . (formal_parameter_list))
(factory_constructor_signature . (identifier) @name . (formal_parameter_list))
(factory_constructor_signature (identifier) . (identifier) @name . (formal_parameter_list))
(redirecting_factory_constructor_signature . (identifier) @name . (formal_parameter_list))
(redirecting_factory_constructor_signature
  (const_builtin) . (identifier) @name . (formal_parameter_list))
(redirecting_factory_constructor_signature
  (identifier) . (identifier) @name . (formal_parameter_list))
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name)))
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name)))
(annotation) @decorator

; Docs.
(comment) @comment
(documentation_comment) @comment

; References.
((identifier) @reference.call . (selector . (argument_part)))
((selector (unconditional_assignable_selector (identifier) @reference.call))
  . (selector . (argument_part)))
((selector (conditional_assignable_selector (identifier) @reference.call))
  . (selector . (argument_part)))
((identifier) @reference.bound . (selector . (unconditional_assignable_selector)))
((identifier) @reference.bound . (selector . (conditional_assignable_selector)))
(cascade_section (cascade_selector (identifier) @reference.call) . (argument_part))
(new_expression (type_identifier) @reference.call)
(const_object_expression (type_identifier) @reference.call)
(type_identifier) @reference.type
(type_parameter . (type_identifier) @type.parameter)
(annotation name: (_) @reference.bound)
(argument (identifier) @reference.bound)
(named_argument (identifier) @reference.bound)
(return_statement (identifier) @reference.bound)
(assignment_expression right: (identifier) @reference.bound)
(initialized_variable_definition value: (identifier) @reference.bound)
(list_literal (identifier) @reference.bound)
(additive_expression (identifier) @reference.bound)
(multiplicative_expression (identifier) @reference.bound)
(relational_expression (identifier) @reference.bound)
(equality_expression (identifier) @reference.bound)
(logical_and_expression (identifier) @reference.bound)
(logical_or_expression (identifier) @reference.bound)
(if_null_expression (identifier) @reference.bound)
(conditional_expression (identifier) @reference.bound)
(unary_expression (identifier) @reference.bound)
(index_selector (identifier) @reference.bound)
(template_substitution (identifier) @reference.bound)
(constant_pattern (qualified (identifier) @reference.name))
(constant_pattern (identifier) @reference.bound)

; Imports.
(import_or_export) @import
(import_specification (configurable_uri . (uri) @import.module))
(import_specification (uri) @import.module)
(import_specification (identifier) @import.alias)
(import_specification (combinator "show" (identifier) @import.name))
(library_export (configurable_uri . (uri) @import.module))
(library_export (combinator "show" (identifier) @import.name))
(part_directive (uri) @import.module) @import
(part_of_directive [(uri) (dotted_identifier_list)] @import.module) @import
