; Definitions. The extent of a single target is its rule; `+=` defines nothing.
(rule) @extent
(targets (_) @definition.key @name)
(variable_assignment !target_or_pattern ["=" ":=" "::=" "?="]) @definition.variable
(shell_assignment) @definition.variable
(define_directive) @definition.macro

; Docs.
(comment) @comment

; References: variables and targets of this file.
(variable_reference (word) @reference.bound)
(prerequisites (word) @reference.bound)

; Imports.
(include_directive filenames: (list (_) @import.module)) @import
