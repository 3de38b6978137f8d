; Definitions: targets, options and variables are commands like any other.
(function_def) @definition.function
(function_def (body) @body)
(function_command (argument_list . (argument) @name))
(macro_def) @definition.macro
(macro_def (body) @body)
(macro_command (argument_list . (argument) @name))
(normal_command (identifier) @form.keyword) @form
(normal_command (argument_list . (argument) @name))

; Docs.
(line_comment) @comment
(bracket_comment) @comment

; References.
(normal_command (identifier) @reference.call)
(normal_var (variable) @reference.bound)
(unquoted_argument) @reference.bound

; Imports.
(normal_command (argument_list . (argument) @import.module))
