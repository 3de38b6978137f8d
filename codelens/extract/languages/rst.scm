; A section reaches from its heading to the next one of its level or above.
(section (title) @name) @section.auto
(section "adornment" @section.mark)
(section . "adornment" @decorator)

; Definitions that directives describe, and labels.
(directive name: (type) @form.keyword) @form
(directive body: (body (arguments) @name))
(directive body: (body (content) @body))
(target name: (name) @name !link) @definition.key

; Code with a language.
(directive body: (body (arguments) @embedded.language (content) @embedded))

; Imports.
(directive body: (body (arguments) @import.module))
