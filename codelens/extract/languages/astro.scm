; The parts of a component.
(frontmatter (frontmatter_js_block) @embedded.typescript)
