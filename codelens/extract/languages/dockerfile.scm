; Definitions. Only a stage with a name can be meant.
(from_instruction as: (_)) @definition.key
(arg_instruction) @definition.variable
(env_pair) @definition.variable
(env_instruction) @extent

; Docs.
(comment) @comment

; References: stages, arguments and variables of this file.
(image_spec name: (image_name) @reference.bound)
(expansion (variable) @reference.bound)

; Imports.
(from_instruction (image_spec) @import.module as: (_)? @import.alias) @import
