; Definitions. A local one is visible outside only if the file returns it.
(function_declaration) @definition.function
(function_declaration name: (identifier) @export)
(function_declaration "local" @private)
(function_declaration !body "end" @body)
(function_definition !body "end" @body)
(variable_declaration) @extent
(chunk (variable_declaration (assignment_statement
  (variable_list (identifier) @name)) @definition.variable))
(chunk (variable_declaration (variable_list (identifier) @name) @definition.variable))
(chunk (assignment_statement (variable_list (identifier) @name)) @definition.variable @export)
(chunk (assignment_statement
  (variable_list (dot_index_expression table: (identifier)) @name)) @definition.variable)
(assignment_statement (variable_list . (identifier) @name)
  (expression_list . (function_definition body: (_)? @body))) @definition.function
(assignment_statement (variable_list . (dot_index_expression) @name)
  (expression_list . (function_definition body: (_)? @body))) @definition.function
(assignment_statement
  (variable_list . (bracket_index_expression table: (_) @owner field: (string) @name))
  (expression_list . (function_definition body: (_)? @body))) @definition.function
(assignment_statement (variable_list . [(identifier) (dot_index_expression)] @name)
  (expression_list . (binary_expression
    right: (function_definition body: (_)? @body)))) @definition.function
(field name: [(identifier) (string)] value: (function_definition)) @definition.method
(attribute) @hint
(chunk (return_statement (expression_list (identifier) @export.name)))
(chunk (return_statement (expression_list
  (function_call arguments: (arguments . (identifier) @export.name)))))
(chunk (return_statement (expression_list
  (table_constructor (field value: (identifier) @export.name)))))
(chunk (return_statement (expression_list (table_constructor) @scope @export)))

; Docs.
(comment) @comment

; References.
(function_call name: [
  (identifier) @reference.call
  (dot_index_expression field: (_) @reference.call)
  (method_index_expression method: (_) @reference.call)
])
(arguments (identifier) @reference.bound)
(expression_list (identifier) @reference.bound)
(field value: (identifier) @reference.bound)
(dot_index_expression table: (identifier) @reference.bound)
(method_index_expression table: (identifier) @reference.bound)
(bracket_index_expression table: (identifier) @reference.bound)
(bracket_index_expression field: (string) @reference.sent)
(binary_expression (identifier) @reference.bound)
(parenthesized_expression (identifier) @reference.bound)
(chunk (assignment_statement (variable_list (identifier) @reference.bound)))
(block (assignment_statement (variable_list (identifier) @reference.bound)))
(if_statement condition: (identifier) @reference.bound)
(elseif_statement condition: (identifier) @reference.bound)
(arguments (dot_index_expression field: (_) @reference.name))
(expression_list (dot_index_expression field: (_) @reference.name))
(field value: (dot_index_expression field: (_) @reference.name))
(binary_expression (dot_index_expression field: (_) @reference.name))
(parenthesized_expression (dot_index_expression field: (_) @reference.name))

; Imports.
(assignment_statement (variable_list . (identifier) @import.alias .)
  (expression_list . (function_call
    name: (identifier) @import.call
    arguments: (arguments . (string content: (_) @import.module))) .)) @import
(assignment_statement (variable_list . (identifier) .)
  (expression_list . (dot_index_expression
    table: (function_call
      name: (identifier) @import.call
      arguments: (arguments . (string content: (_) @import.module)))
    field: (_) @import.name) .)) @import
(function_call name: (identifier) @import.call
  arguments: (arguments . (string content: (_) @import.module))) @import
(function_call name: (identifier)
  arguments: (arguments . (identifier) @import.call . (string content: (_) @import.module))) @import

; Scopes and bindings.
[
  (function_declaration)
  (function_definition)
] @scope.function
[
  (do_statement)
  (while_statement)
  (for_statement)
  (repeat_statement)
  (if_statement)
  (elseif_statement)
  (else_statement)
] @scope.block
(dot_index_expression) @chain
(method_index_expression table: (_) @receiver)
(variable_declaration (assignment_statement) @bind)
(variable_declaration (variable_list (identifier) @bind))
(chunk (assignment_statement) @bind.assign)
(block (assignment_statement) @bind.assign)
(parameters (identifier) @bind.parameter)
(for_generic_clause (variable_list (identifier) @bind.unknown))
(for_numeric_clause name: (identifier) @bind.unknown)
(return_statement (expression_list . (_) @bind.return))
(chunk (return_statement) @bind.export)
(chunk (function_call arguments: (arguments . (identifier))) @bind.base)
