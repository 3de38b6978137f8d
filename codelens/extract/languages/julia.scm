; Definitions.
(module_definition name: (_) @name) @definition.module
(module_definition (block) @body)
(module_definition ["module" "baremodule"] @export)
(function_definition) @definition.function
(function_definition (block) @body)
(macro_definition) @definition.macro
(macro_definition (block) @body)
(assignment . (call_expression)) @definition.function
(assignment . (where_expression . (call_expression))) @definition.function
(assignment . (typed_expression . (call_expression))) @definition.function
(assignment . (_ . (typed_expression . (call_expression)))) @definition.function
(source_file (assignment . (_ . (identifier) . (operator) @name . (identifier) .)) @definition.function)
(source_file (assignment . (_ . (typed_expression) . (operator) @name . (typed_expression) .)) @definition.function)
(source_file (assignment . (_ . (typed_expression) . (operator) @name . (identifier) .)) @definition.function)
(block (assignment . (_ . (identifier) . (operator) @name . (identifier) .)) @definition.function)
(block (assignment . (_ . (typed_expression) . (operator) @name . (typed_expression) .)) @definition.function)
(block (assignment . (_ . (typed_expression) . (operator) @name . (identifier) .)) @definition.function)
(source_file (assignment . (identifier) @name . (operator) . (arrow_function_expression)) @definition.function)
(block (assignment . (identifier) @name . (operator) . (arrow_function_expression)) @definition.function)
(source_file (assignment . (identifier) @name . (operator) . (function_definition)) @definition.function)
(block (assignment . (identifier) @name . (operator) . (function_definition)) @definition.function)
(assignment . [
  (call_expression) (where_expression) (typed_expression) (binary_expression)
] . (operator) . (_) @body)
(assignment . (identifier) . (operator) . [
  (arrow_function_expression) (macrocall_expression)
] @body)
(struct_definition) @definition.struct
(struct_definition (block) @body)
(abstract_definition) @definition.type
(primitive_definition) @definition.type
(const_statement) @definition.constant
(const_statement (assignment . [(identifier) (operator)] @name))
(const_statement (_ . [
  (parametrized_type_expression . (identifier) @name)
  (typed_expression . (identifier) @name)
  (open_tuple (identifier) @name)
]))
(source_file (assignment . (identifier) @name) @definition.variable)
(module_definition (_ (assignment . (identifier) @name) @definition.variable))
(source_file (global_statement (assignment . (identifier) @name)) @definition.variable)
(module_definition (_ (global_statement (assignment . (identifier) @name)) @definition.variable))
(struct_definition (block (identifier) @name @definition.field))
(struct_definition (block (typed_expression . (identifier) @name) @definition.field))
(struct_definition (block (assignment . (identifier) @name) @definition.field))
(struct_definition (block (_ . (typed_expression . (identifier) @name)) @definition.field))
(macrocall_expression . (macro_identifier) @form.keyword) @form
(macrocall_expression (macro_argument_list . (identifier) @name . (_)))
(macrocall_expression (macro_argument_list . (typed_expression . (identifier) @name) . (_)))
(macrocall_expression (macro_argument_list . (_) (identifier) @name @form.part))
(macrocall_expression (macro_argument_list . (_) (assignment . (identifier) @name) @form.part))
(macro_argument_list (compound_statement (block (identifier) @name @form.part)))
(macro_argument_list (compound_statement (block (assignment . (identifier) @name) @form.part)))

; Names in heads.
(signature (identifier) @name)
(signature (call_expression . [(identifier) (operator) (field_expression)] @name))
(where_expression . (call_expression . [(identifier) (operator) (field_expression)] @name))
(typed_expression . (call_expression . [(identifier) (operator) (field_expression)] @name))
(assignment . (call_expression . [(identifier) (operator) (field_expression)] @name))
(call_expression . [
  (parametrized_type_expression . (identifier) @name)
  (parametrized_type_expression . (field_expression) @name)
  (parenthesized_expression (typed_expression (_) . (identifier) @name))
  (parenthesized_expression (unary_typed_expression (identifier) @name))
  (parenthesized_expression (operator) @name)
])
(type_head . (identifier) @name)
(type_head (_ . (identifier) @name . (operator)))
(type_head (parametrized_type_expression . (identifier) @name))
(type_head (_ . (parametrized_type_expression . (identifier) @name)))

; A macro before a definition belongs to the definition.
(macrocall_expression (macro_argument_list (function_definition) .)) @extent
(macrocall_expression (macro_argument_list (struct_definition) .)) @extent
(macrocall_expression (macro_argument_list (assignment . (call_expression)) .)) @extent
(macrocall_expression (macro_argument_list (assignment . (where_expression)) .)) @extent

; Docs.
[(line_comment) (block_comment)] @comment
(source_file (string_literal) @doc . (_))
(block (string_literal) @doc . (_))
(source_file (prefixed_string_literal) @doc . (_))
(block (prefixed_string_literal) @doc . (_))
(macrocall_expression (macro_argument_list . (string_literal) @docstring . (_) .))
(macrocall_expression (macro_argument_list . (prefixed_string_literal) @docstring .)) @doc

; Exports.
(export_statement) @export.list
(export_statement [
  (identifier) @export.name
  (operator) @export.name
  (macro_identifier (identifier) @export.name)
])
(public_statement [
  (identifier) @export.name
  (operator) @export.name
  (macro_identifier (identifier) @export.name)
])

; References.
(call_expression . [
  (identifier) @reference.call
  (field_expression (identifier) @reference.call .)
  (parametrized_type_expression . (identifier) @reference.call)
])
(broadcast_call_expression . [
  (identifier) @reference.call
  (field_expression (identifier) @reference.call .)
])
(macrocall_expression . (macro_identifier (identifier) @reference.call))
(macrocall_expression . (field_expression (macro_identifier (identifier) @reference.call)))
(typed_expression (_) . [
  (identifier) @reference.type
  (field_expression (identifier) @reference.type .)
])
(unary_typed_expression (identifier) @reference.type)
(parametrized_type_expression . (identifier) @reference.type)
(curly_expression [(identifier) @reference.type (_ (operator) . (identifier) @reference.type)])
(type_head (_ (operator) . (identifier) @reference.type))
(where_expression (_) . [
  (identifier) @type.parameter
  (curly_expression (identifier) @type.parameter)
  (curly_expression (_ . (identifier) @type.parameter . (operator)))
])
(type_head (_ . (parametrized_type_expression (curly_expression (identifier) @type.parameter))))
(type_head (parametrized_type_expression (curly_expression (identifier) @type.parameter)))
(argument_list (identifier) @reference.bound)
(binary_expression (identifier) @reference.bound)
(assignment (operator) . (identifier) @reference.bound)
(return_statement (identifier) @reference.bound)
(field_expression value: (identifier) @reference.bound)
(vector_expression (identifier) @reference.bound)
(quote_expression (identifier) @reference.bound)

; Imports.
(using_statement [(identifier) (import_path)] @import @import.module @import.all)
(import_statement [(identifier) (import_path)] @import @import.module)
(import_statement (import_alias . (_) @import.module . (identifier) @import.alias) @import)
(using_statement (import_alias . (_) @import.module . (identifier) @import.alias) @import)
(selected_import . [(identifier) (import_path)] @import.module) @import
(selected_import . (_) [
  (identifier) @import.name
  (operator) @import.name
  (macro_identifier (identifier) @import.name)
])
(selected_import (import_alias . (_) @import.name . (identifier) @import.alias))
(_ . (identifier) @import.call . (argument_list . (string_literal) @import.module .)) @import
