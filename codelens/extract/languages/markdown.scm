; A section reaches from its heading to the next one of its level or above.
(atx_heading (atx_h1_marker) (inline) @name) @section.1
(atx_heading (atx_h2_marker) (inline) @name) @section.2
(atx_heading (atx_h3_marker) (inline) @name) @section.3
(atx_heading (atx_h4_marker) (inline) @name) @section.4
(atx_heading (atx_h5_marker) (inline) @name) @section.5
(atx_heading (atx_h6_marker) (inline) @name) @section.6
(setext_heading (paragraph (inline) @name) (setext_h1_underline)) @section.1
(setext_heading (paragraph (inline) @name) (setext_h2_underline)) @section.2

; Headings in lists and quotes open no section.
(list) @opaque
(block_quote) @opaque

; Fenced code with a language.
(fenced_code_block (info_string) @embedded.language (code_fence_content) @embedded)
(code_fence_content (block_continuation) @embedded.skip)
