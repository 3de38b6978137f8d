; The parts of a component.

(script_element (start_tag (tag_name) @name)) @definition.key
(style_element (start_tag (tag_name) @name)) @definition.key
