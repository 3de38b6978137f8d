; Definitions. A rule with one selector is the extent of the selector.
(rule_set) @extent
(selectors (_) @definition.key @name)
(keyframes_statement (keyframes_name) @name) @definition.key
(rule_set (block (declaration (property_name) @form.keyword @name) @form))
(at_rule (at_keyword) @form.keyword (keyword_query) @name) @form

; Docs.
(comment) @comment

; References: custom properties.
(call_expression (arguments (plain_value) @reference.bound))

; Imports.
(import_statement (string_value) @import.module) @import
(import_statement (call_expression (arguments [(string_value) (plain_value)] @import.module)))
(import_statement (call_expression)) @import
