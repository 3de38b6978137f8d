; Definitions. A stage reaches to the next FROM; one without a name cannot be referenced.
(from_instruction) @section.1
(arg_instruction) @definition.variable
(env_pair) @definition.variable
(env_instruction) @extent

; Docs.
(comment) @comment

; References: stages, arguments and variables of this file.
(image_spec name: (image_name) @reference.bound)
(expansion (variable) @reference.bound)

; Imports.
(from_instruction (image_spec) @import.module @import)
