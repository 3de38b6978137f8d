; The keys of the outermost mapping, and below these the keys of blocks (jobs, services, paths):
; plain values there are too many, as in translations.
(document (block_node (block_mapping (block_mapping_pair) @definition.key)))
(document (block_node (block_mapping (block_mapping_pair
  value: (block_node (block_mapping (block_mapping_pair
    value: (block_node (block_mapping))) @definition.key))))))
(document (flow_node (flow_mapping (flow_pair) @definition.key)))
(comment) @comment
