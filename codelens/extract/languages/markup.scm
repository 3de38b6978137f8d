; Shared by HTML, Vue, Svelte and Astro.

; Docs.
(comment) @comment

; Parts in other languages.
(script_element (start_tag (attribute) @embedded.language))
(style_element (start_tag (attribute) @embedded.language))
(script_element (raw_text) @embedded.javascript)
(style_element (raw_text) @embedded.css)

; Imports.
(script_element (start_tag (attribute (attribute_name) @import.call) @import))
(script_element (start_tag (attribute (quoted_attribute_value (attribute_value) @import.module))))
