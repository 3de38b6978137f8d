; Definitions. A package reaches to the next one.
(package_statement name: (_) @name ";" @body) @section.1
(package_statement name: (_) (block) @body) @definition.module
(class_statement name: (_) @name ";" @body) @section.1
(class_statement name: (_) @name (block) @body) @definition.class
(role_statement name: (_) @name (block) @body) @definition.trait
(subroutine_declaration_statement) @definition.function
(method_declaration_statement) @definition.method
(variable_declaration "field") @definition.field
(source_file (expression_statement (assignment_expression
  left: (variable_declaration "our")) @definition.variable))
(source_file (expression_statement (assignment_expression
  left: (variable_declaration "my" @private)) @definition.variable))
(source_file (expression_statement (variable_declaration "our") @definition.variable))
(assignment_expression left: [(glob) (variable_declaration)]
  right: (anonymous_subroutine_expression)) @definition.function
(use_statement module: (_) @form.keyword) @form
(use_statement (list_expression . (autoquoted_bareword) @name))
(use_statement (anonymous_hash_expression (list_expression (autoquoted_bareword) @name . "=>")))
(ambiguous_function_call_expression function: (function) @form.keyword . arguments: [
  (anonymous_array_expression)
  (autoquoted_bareword)
  (string_literal)
]) @form

; Docs.
(comment) @comment
(pod) @comment

; References.
(function_call_expression function: (function) @reference.call)
(ambiguous_function_call_expression function: (function) @reference.call)
(method_call_expression method: (method) @reference.call)
(method_call_expression invocant: (bareword) @reference.type)
(refgen_expression (function (varname) @reference.name))

; Imports.
(use_statement module: (_) @import.module)
(use_statement (quoted_word_list content: (_) @import.name))
(use_statement (string_literal content: (_) @import.name))
(use_statement (list_expression (string_literal content: (_) @import.name)))
(require_expression [(bareword) (string_literal) (interpolated_string_literal)] @import.module) @import
