-- The roles of paths gained `tooling` (`path_facts` in index/ingestion.py).

CREATE TEMP TABLE named AS
SELECT id, lower(path) AS path, lower(substr(path, 1 + length(rtrim(path, replace(path, '/', '')))))
    AS name
FROM (SELECT id, CAST(path AS TEXT) AS path FROM paths WHERE role = '');

UPDATE paths SET role = 'tooling' WHERE id IN (
    SELECT id FROM named WHERE name IN (
        'angular.json', 'appveyor.yml', 'bower.json', 'build.bat', 'build.bazel', 'build.cmd',
        'build.gradle', 'build.gradle.kts', 'build.ps1', 'build.sbt', 'build.sh', 'build.xml',
        'build.zig', 'cargo.toml', 'cmakelists.txt', 'composer.json', 'deno.json', 'dockerfile',
        'fabfile.py', 'gemfile', 'go.mod', 'go.work', 'jenkinsfile', 'justfile', 'lerna.json',
        'makefile', 'meson.build', 'mix.exs', 'noxfile.py', 'nx.json', 'package.json',
        'package.swift', 'podfile', 'pom.xml', 'project.json', 'project.toml', 'pyproject.toml',
        'rakefile', 'rebar.config', 'renovate.json', 'settings.gradle', 'settings.gradle.kts',
        'setup.cfg', 'setup.py', 'stack.yaml', 'tox.ini', 'turbo.json', 'vagrantfile',
        'workspace.bazel', 'wscript', '.gitlab-ci.yml', '.golangci.yml', '.goreleaser.yml',
        '.pre-commit-config.yaml', '.readthedocs.yaml', '.travis.yml'
    )
);
UPDATE paths SET role = 'tooling' WHERE id IN (
    SELECT named.id FROM named, json_each('[
        "*.config.js", "*.config.jsx", "*.config.ts", "*.config.tsx", "*.config.cjs",
        "*.config.mjs", "*.config.cts", "*.config.mts", "*.config.cjsx", "*.config.mjsx",
        "*.config.ctsx", "*.config.mtsx", "*.gemspec", "*.csproj", "*.fsproj", "*.vbproj",
        "*.nuspec", "*.props", "*.targets", ".babelrc*", ".commitlintrc*", ".eslintrc*",
        ".npmrc*", ".prettierrc*", ".stylelintrc*", "tsconfig*.json", "gulpfile.?*",
        "gruntfile.?*", "compose*.yaml", "compose*.yml", "docker-compose*.yaml",
        "docker-compose*.yml"
    ]') AS pattern WHERE named.name GLOB pattern.value
);
UPDATE paths SET role = 'tooling' WHERE id IN (
    SELECT named.id FROM named, json_each('[
        ".github", ".gitlab", ".circleci", ".changeset", ".husky", ".vscode", ".idea",
        ".devcontainer", ".buildkite"
    ]') AS folder WHERE instr('/' || named.path, '/' || folder.value || '/')
);
UPDATE paths SET role = 'tooling' WHERE id IN (
    SELECT named.id FROM named, json_each('["doc", "docs", "documentation", "manual", "man", "website"]')
        AS folder
    WHERE named.name = 'conf.py' AND instr('/' || named.path, '/' || folder.value || '/')
);
DROP TABLE named;
