-- Bundles, copies of released libraries and scripts of documentation have a role (`path_facts` in
-- index/ingestion.py).

CREATE TEMP TABLE copied AS
SELECT id, '/' || lower(path) AS path,
    lower(substr(path, 1 + length(rtrim(path, replace(path, '/', ''))))) AS name
FROM (SELECT id, CAST(path AS TEXT) AS path FROM paths WHERE role = '');

UPDATE paths SET role = 'generated' WHERE id IN (
    SELECT copied.id FROM copied, json_each('[
        "*.umd.js", "*.umd.cjs", "*.umd.mjs", "*.iife.js", "*.iife.cjs", "*.iife.mjs",
        "*.bundle.js", "*.bundle.cjs", "*.bundle.mjs"
    ]') AS pattern WHERE copied.name GLOB pattern.value
);
UPDATE paths SET role = 'prose' WHERE id IN (
    SELECT copied.id
    FROM copied,
        json_each('["doc", "docs", "documentation", "manual", "man", "website"]') AS docs,
        json_each('["assets", "static", "_static", "public", "javascripts"]') AS assets,
        json_each('["*.js", "*.cjs", "*.mjs"]') AS pattern
    WHERE instr(copied.path, '/' || docs.value || '/')
        AND instr(copied.path, '/' || assets.value || '/')
        AND copied.name GLOB pattern.value
);
UPDATE paths SET role = 'vendored' WHERE id IN (
    SELECT copied.id FROM copied, json_each('["js", "cjs", "mjs", "css"]') AS ending
    WHERE copied.name GLOB '*-[0-9]*.[0-9]*.[0-9]*.' || ending.value
        OR instr(copied.path, '/.yarn/')
);
DROP TABLE copied;
