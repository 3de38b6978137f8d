; Definitions: blocks with labels. The last label is the name, the text before it the owner.
(config_file (body (block . (identifier) @form.keyword) @form))
(block . (identifier) @owner . (block_start))
(block . (identifier) @owner . (string_lit) @name . (block_start))
(block . (identifier) . (string_lit) @owner . (string_lit) @name . (block_start))
(block . (identifier) @owner . (identifier) @name . (block_start))
(block (block_start) @body)
(config_file (body (block (identifier) . (block_start)
  (body (attribute . (identifier) @name) @definition.variable))))
(config_file (body (attribute . (identifier) @name) @definition.variable))

; Docs.
(comment) @comment

; References: names after var, local, module, or a resource type.
(expression (variable_expr) . (get_attr (identifier) @reference.name))
(expression (variable_expr) . (get_attr) . (get_attr (identifier) @reference.bound))

; Imports: the source of a module.
(attribute . (identifier) @import.call) @import
(attribute (expression (literal_value (string_lit) @import.module)))
