; Definitions. The declarations of properties in functions are local.
(class_declaration declaration_kind: "class") @definition.class
(class_declaration declaration_kind: "actor") @definition.class
(class_declaration declaration_kind: "struct") @definition.struct
(class_declaration declaration_kind: "enum") @definition.enum
(class_declaration declaration_kind: "extension" name: (user_type) @owner) @scope
(protocol_declaration) @definition.interface
(enum_entry) @definition.member
(enum_entry name: (_) @name)
(function_declaration) @definition.function
(function_declaration name: (simple_identifier) @name)
(protocol_function_declaration) @definition.method
(init_declaration "init" @name) @definition.method
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name (computed_property)? @body) @definition.method
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration) @definition.type
(operator_declaration (custom_operator) @name) @definition.function
(precedence_group_declaration . (simple_identifier) @name) @definition.type
(macro_declaration (simple_identifier) @name definition: (_)? @body) @definition.macro
(source_file (property_declaration) @definition.variable)
(source_file (_ (value_binding_pattern "let")) @definition.constant)
(source_file (property_declaration computed_value: (computed_property)) @definition.property)
(class_body (property_declaration computed_value: (computed_property)) @definition.property)
(class_body (property_declaration) @definition.field)
(enum_class_body (property_declaration) @definition.field)
(enum_class_body (property_declaration computed_value: (computed_property)) @definition.property)
(pattern bound_identifier: (simple_identifier) @name)
(property_declaration name: (_ (pattern (simple_identifier) @name)))
(willset_didset_block) @body
(lambda_literal) @body
(protocol_property_declaration) @definition.property
(protocol_property_declaration (protocol_property_requirements) @body)
(attribute) @decorator
; `private(set)` does not make a property private; the forms distinguish it.
(visibility_modifier) @form @form.keyword

; Docs.
(comment) @comment
(multiline_comment) @comment

; References.
((simple_identifier) @reference.call . (call_suffix . [(value_arguments . "(") (lambda_literal)]))
((navigation_expression (_ suffix: (simple_identifier) @reference.call))
  . (call_suffix . [(value_arguments . "(") (lambda_literal)]))
(call_expression . (_ operation: "." target: (simple_identifier) @reference.call))
(constructor_expression constructed_type: (user_type (type_identifier) @reference.call .))
(constructor_expression constructed_type: (user_type (type_identifier) @reference.call . (type_arguments) .))
(macro_invocation . (simple_identifier) @reference.call)
(type_identifier) @reference.type
(type_parameter . (type_identifier) @type.parameter)
(prefix_expression operation: "." target: (simple_identifier) @reference.name)
(switch_pattern (pattern "." . (simple_identifier) @reference.name))
(navigation_expression target: (simple_identifier) @reference.bound
  suffix: (navigation_suffix suffix: (simple_identifier)? @reference.name))
(navigation_expression
  target: [(self_expression) (super_expression) (navigation_expression) (call_expression)]
  suffix: (navigation_suffix suffix: (simple_identifier) @reference.name))
(directly_assignable_expression (simple_identifier) @reference.name)
(value_argument value: (simple_identifier) @reference.bound)
(assignment result: (simple_identifier) @reference.bound)
(control_transfer_statement result: (simple_identifier) @reference.bound)
(additive_expression (simple_identifier) @reference.bound)
(multiplicative_expression (simple_identifier) @reference.bound)
(comparison_expression (simple_identifier) @reference.bound)
(equality_expression (simple_identifier) @reference.bound)
(conjunction_expression (simple_identifier) @reference.bound)
(disjunction_expression (simple_identifier) @reference.bound)
(nil_coalescing_expression (simple_identifier) @reference.bound)
(range_expression (simple_identifier) @reference.bound)
(prefix_expression (simple_identifier) @reference.bound)
(ternary_expression (simple_identifier) @reference.bound)
(array_literal (simple_identifier) @reference.bound)
(interpolated_expression (simple_identifier) @reference.bound)
(property_declaration value: (simple_identifier) @reference.bound)
(if_statement condition: (simple_identifier) @reference.bound)

; Imports.
(import_declaration (identifier) @import.module) @import
