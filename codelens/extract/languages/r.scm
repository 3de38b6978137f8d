; Definitions.
(binary_operator lhs: [(identifier) (string) (extract_operator)] ["<-" "=" "<<-"]
  rhs: (function_definition)) @definition.function
(binary_operator lhs: [(function_definition) (parenthesized_expression (function_definition))]
  ["->" "->>"] rhs: (identifier) @name) @definition.function
(program (binary_operator lhs: (identifier) ["<-" "=" "<<-"]) @definition.variable)
(program (binary_operator ["->" "->>"] rhs: (identifier) @name) @definition.variable)
(binary_operator lhs: (identifier) rhs: (call function: (_) @form.keyword)) @form
(program (call function: (_) @form.keyword
  arguments: (arguments . (argument !name value: (string) @name))) @form)
(program (call arguments: (arguments
  . (argument) . (comma) . (argument !name value: (string) @owner))))
(program (call arguments: (arguments . (argument) . (comma) . (argument !name
  value: (call arguments: (arguments . (argument !name value: (string) @owner)))))))
(argument name: [(identifier) (string)] value: (function_definition)) @definition.method
(program (binary_operator rhs: (call arguments: (arguments (argument
  value: (call arguments: (arguments (argument name: (identifier)) @definition.field)))))))
(program (call arguments: (arguments (argument
  value: (call arguments: (arguments (argument name: (identifier)) @definition.field))))))
(arguments (argument name: (identifier) @access value: (call)))

; Docs.
(comment) @comment

; References.
(call function: [
  (identifier) @reference.call
  (namespace_operator rhs: (_) @reference.call)
  (extract_operator rhs: (_) @reference.call)
])
(argument value: (identifier) @reference.bound)
(binary_operator rhs: (identifier) @reference.bound)
(extract_operator lhs: (identifier) @reference.bound)
(braced_expression (identifier) @reference.bound)

; Imports.
(call function: (identifier) @import.call
  arguments: (arguments . (argument value: [(identifier) (string)] @import.module))) @import
(namespace_operator lhs: (_) @import.module rhs: (_) @import.name) @import
