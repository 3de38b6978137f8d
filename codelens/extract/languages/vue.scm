; The parts of a component.
(document (template_element (start_tag (tag_name) @name)) @definition.key)
(script_element (start_tag (tag_name) @name)) @definition.key
(style_element (start_tag (tag_name) @name)) @definition.key
