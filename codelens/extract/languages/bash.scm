; Definitions.
(function_definition) @definition.function
(ERROR (word) @definition.function @name . "(" . ")")
(program (variable_assignment name: (variable_name) "=") @definition.variable)
(declaration_command [
  "declare"
  "export"
  "readonly"
  "typeset"
] (variable_assignment name: (variable_name) "=") @definition.variable)
(declaration_command) @extent
(declaration_command "readonly" @hint)
(declaration_command (word) @hint)
(command name: (command_name) @form.keyword argument: (concatenation)) @form

; Docs.
(comment) @comment

; References.
(command_name (word) @reference.call)
(simple_expansion (variable_name) @reference.bound)
(expansion (variable_name) @reference.bound)
(command argument: (word) @reference.bound)

; Imports.
(command name: (command_name (word) @import.call) . argument: (_) @import.module) @import
