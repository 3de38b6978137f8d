// Answers where names in markup are defined, by the frameworks' own translators over TypeScript's
// language service. `benchmarks/markup.py` runs it.
//
//     node markup_definitions.mjs FRAMEWORK REPOSITORY TOOLS [TSCONFIG] < questions.json
//
// TOOLS is a folder with a node_modules that has `typescript` and, for vue, `@vue/language-core`
// and `@volar/typescript`; for astro `@astrojs/language-server` and `@volar/typescript`; for svelte
// `svelte2tsx`. The questions are {file: [offset, ...]}, in UTF-16 units; the answer is
// {file: {offset: [[file, offset], ...]}}, where an offset of -1 means the component itself.

import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const [framework, repository, tools, tsconfig] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(tools), 'index.js'));
const ts = require('typescript');
const root = fs.realpathSync(repository);
const questions = JSON.parse(fs.readFileSync(0, 'utf8'));
const extension = '.' + framework;

function listed(folder, found) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === '.git') continue;
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) listed(full, found);
    else if (/\.(vue|svelte|astro|[cm]?[jt]sx?)$/.test(entry.name) && !/\.min\.js$/.test(entry.name)) found.push(full);
  }
  return found;
}
const files = listed(root, []);

function options() {
  const base = {
    allowJs: true, checkJs: false, jsx: ts.JsxEmit.Preserve, skipLibCheck: true, noEmit: true,
    target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, strict: true,
    moduleResolution: ts.ModuleResolutionKind.Bundler, allowImportingTsExtensions: true,
    allowNonTsExtensions: true, allowArbitraryExtensions: true, types: [], resolveJsonModule: true,
  };
  if (tsconfig) {
    const read = ts.getParsedCommandLineOfConfigFile(tsconfig, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} });
    const { paths, baseUrl, pathsBasePath } = read?.options ?? {};
    Object.assign(base, paths ? { paths, pathsBasePath } : {}, baseUrl ? { baseUrl } : {});
  }
  return base;
}
const settings = options();

function host(extra) {
  return {
    ...extra,
    getCompilationSettings: () => settings,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (one) => ts.getDefaultLibFilePath(one),
    getProjectVersion: () => '1',
    fileExists: extra?.fileExists ?? ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    readDirectory: ts.sys.readDirectory,
    realpath: ts.sys.realpath,
    useCaseSensitiveFileNames: () => true,
  };
}

// A key that stands for a variable (`{ Delete }`) leads on to what the variable means.
function followed(service, found) {
  return found.flatMap((one) => {
    const file = service.getProgram().getSourceFile(one.fileName);
    const token = file && ts.getTokenAtPosition(file, one.textSpan.start);
    if (token?.parent?.kind !== ts.SyntaxKind.ShorthandPropertyAssignment) return [one];
    const further = service.getDefinitionAtPosition(one.fileName, one.textSpan.start);
    return further?.length ? further : [one];
  });
}

function volar(plugins, shims) {
  const { createLanguage } = require('@volar/language-core');
  const { createProxyLanguageService, decorateLanguageServiceHost, resolveFileLanguageId } = require('@volar/typescript');
  const known = new Set();
  const language = createLanguage(
    [...plugins, { getLanguageId: (id) => resolveFileLanguageId(id) }],
    new Map(),
    (id) => {
      if (!known.has(id) && ts.sys.fileExists(id)) {
        known.add(id);
        language.scripts.set(id, ts.ScriptSnapshot.fromString(fs.readFileSync(id, 'utf8')));
      }
    },
  );
  const snapshots = new Map();
  const own = host({
    getScriptFileNames: () => [...files, ...shims],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      if (!snapshots.has(name)) {
        const text = ts.sys.readFile(name);
        snapshots.set(name, text === undefined ? undefined : ts.ScriptSnapshot.fromString(text));
      }
      return snapshots.get(name);
    },
    resolveModuleNameLiterals: (literals, from) =>
      literals.map((one) => ts.resolveModuleName(one.text, from, settings, own)),
  });
  decorateLanguageServiceHost(ts, language, own);
  const service = createProxyLanguageService(ts.createLanguageService(own));
  service.initialize(language);
  return (file, offset) =>
    (service.proxy.getDefinitionAtPosition(file, offset) ?? []).map((one) => [
      one.fileName,
      one.fileName.endsWith(extension) && one.textSpan.start === 0 ? -1 : one.textSpan.start,
    ]);
}

function vue() {
  const core = require('@vue/language-core');
  const made = core.getDefaultCompilerOptions ? core.getDefaultCompilerOptions() : core.resolveVueCompilerOptions({});
  const chosen = core.resolveVueCompilerOptions ? core.resolveVueCompilerOptions({ ...made, strictTemplates: false }) : made;
  return volar([core.createVueLanguagePlugin(ts, settings, chosen, (id) => id)], []);
}

// Astro and Svelte: each component is translated, and positions go through the translator's map.

function astroTranslated(file) {
  const { astro2tsx } = require('@astrojs/language-server/dist/core/astro2tsx.js');
  const text = fs.readFileSync(file, 'utf8');
  const made = astro2tsx(text, file).virtualCode;
  const code = made.snapshot.getText(0, made.snapshot.getLength());
  const rows = made.mappings.flatMap((one) =>
    one.sourceOffsets.map((source, at) => [source, one.generatedOffsets[at], one.lengths[at]]));
  const through = (at, from, to) =>
    rows.filter((one) => one[from] <= at && at < one[from] + one[2]).map((one) => one[to] + at - one[from]);
  return { code, text, ending: 'tsx', to: (at) => through(at, 0, 1), back: (at) => through(at, 1, 0)[0] };
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function decoded(mappings) {
  const lines = [];
  let [source, line, column] = [0, 0, 0];
  for (const part of mappings.split(';')) {
    const segments = [];
    let generated = 0;
    for (const segment of part ? part.split(',') : []) {
      const values = [];
      let [value, shift] = [0, 0];
      for (const letter of segment) {
        const digit = DIGITS.indexOf(letter);
        value |= (digit & 31) << shift;
        if (digit & 32) shift += 5;
        else {
          values.push(value & 1 ? -(value >> 1) : value >> 1);
          [value, shift] = [0, 0];
        }
      }
      generated += values[0];
      if (values.length > 1) {
        source += values[1];
        line += values[2];
        column += values[3];
        segments.push([generated, line, column]);
      }
    }
    lines.push(segments);
  }
  return lines;
}

function starts(text) {
  const found = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) found.push(at + 1);
  return found;
}

function svelteTranslated(file) {
  const { svelte2tsx } = require('svelte2tsx');
  const text = fs.readFileSync(file, 'utf8');
  const isTs = /<script[^>]*lang=["']ts["']/.test(text);
  let out;
  try {
    out = svelte2tsx(text, { filename: file, isTsFile: isTs, mode: 'ts', emitOnTemplateError: true, version: '5.0.0' });
  } catch {
    return { code: 'export default {} as any;', text, ending: 'ts', to: () => [], back: () => undefined };
  }
  const [own, made] = [starts(text), starts(out.code)];
  const forward = new Map();
  const backward = new Map();
  decoded(out.map.mappings).forEach((segments, at) => {
    segments.forEach(([column, line, place], number) => {
      const source = own[line] + place;
      // An attribute's name becomes a quoted key.
      const quoted = out.code[made[at] + column] === '"' && text[source] !== '"' ? 1 : 0;
      const generated = made[at] + column + quoted;
      const next = number + 1 < segments.length ? segments[number + 1][0] - column : 200;
      for (let step = 0; step < next && text[source + step] === out.code[generated + step] && text[source + step] !== undefined; step++) {
        if (step && !/[\w$]/.test(text[source + step])) break;
        if (!backward.has(generated + step)) backward.set(generated + step, source + step);
        const places = forward.get(source + step) ?? [];
        places.push(generated + step);
        forward.set(source + step, places);
      }
    });
  });
  return { code: out.code, text, ending: isTs ? 'ts' : 'js', to: (at) => forward.get(at) ?? [], back: (at) => backward.get(at) };
}

function mapped(translated) {
  const MADE = /\.__\.(tsx|ts|js)$/;
  const made = new Map();
  const of = (file) => {
    if (!made.has(file)) made.set(file, translated(file));
    return made.get(file);
  };
  const named = (file) => `${file}.__.${of(file).ending}`;
  const original = (name) => name.replace(MADE, '');
  const library = (from) => {
    for (let folder = path.dirname(from); folder.startsWith(root); folder = path.dirname(folder)) {
      if (fs.existsSync(path.join(folder, 'src/lib'))) return path.join(folder, 'src/lib');
    }
    return path.join(root, 'src/lib');
  };
  // TypeScript follows `paths` to its own files only.
  const aliased = (name) => {
    const base = settings.baseUrl ?? settings.pathsBasePath;
    if (!name.endsWith(extension) || !base) return name;
    for (const [pattern, places] of Object.entries(settings.paths ?? {})) {
      const [before, after] = pattern.split('*');
      if (after === undefined || !name.startsWith(before) || !name.endsWith(after)) continue;
      const inner = name.slice(before.length, name.length - after.length);
      const place = places.map((one) => path.resolve(base, one.replace('*', () => inner))).find(fs.existsSync);
      if (place) return place;
    }
    return name;
  };
  const resolved = (name, from) => {
    const real = aliased(name.replace(/^\$lib(?=\/|$)/, () => library(from)));
    const literal = path.isAbsolute(real) ? real : path.resolve(path.dirname(from), real);
    if (real.endsWith(extension) && (real.startsWith('.') || path.isAbsolute(real)) && fs.existsSync(literal)) {
      return { resolvedFileName: named(literal), extension: '.' + of(literal).ending, isExternalLibraryImport: false };
    }
    return ts.resolveModuleName(real.startsWith('/') ? path.relative(path.dirname(from), real).replace(/^(?!\.)/, './') : real, from, settings, ts.sys).resolvedModule;
  };
  const shims = framework === 'astro' ? [] : ['svelte-shims-v4.d.ts', 'svelte-jsx-v4.d.ts'].map((name) => path.join(path.dirname(require.resolve('svelte2tsx')), name)).filter(fs.existsSync);
  const own = host({
    getScriptFileNames: () => [...files.map((file) => (file.endsWith(extension) ? named(file) : file)), ...shims],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const text = MADE.test(name) ? of(original(name)).code : ts.sys.readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    fileExists: (name) => MADE.test(name) || ts.sys.fileExists(name),
    resolveModuleNameLiterals: (literals, from) =>
      literals.map((one) => ({ resolvedModule: resolved(one.text, MADE.test(from) ? original(from) : from) })),
  });
  const service = ts.createLanguageService(own);
  const back = (one) => {
    if (!MADE.test(one.fileName)) return [one.fileName, one.textSpan.start];
    const file = original(one.fileName);
    const place = of(file).back(one.textSpan.start);
    if (place !== undefined) return [file, place];
    return /(__Svelte|Astro)Component_?$|^default$/.test(one.name) || one.kind === 'module' || one.name === path.basename(file, extension) ||
      one.name.endsWith('__') ? [file, -1] : undefined;
  };
  const ask = (file, offset) => {
    const answers = new Map();
    for (const place of of(file).to(offset)) {
      for (const one of followed(service, service.getDefinitionAtPosition(named(file), place) ?? [])) {
        const answer = back(one);
        if (answer) answers.set(answer.join(), answer);
      }
    }
    return [...answers.values()];
  };
  return (file, offset) => {
    const answers = ask(file, offset);
    const { text } = of(file);
    if (text[offset] === '$') {
      // A store: what its name without the sign means, at its first place in the scripts.
      const word = /^[\w$]+/.exec(text.slice(offset + 1))?.[0];
      const script = /<script[^>]*>[^]*?<\/script>/g;
      for (const part of word ? text.matchAll(script) : []) {
        const at = part[0].search(new RegExp(`(?<![\\w$.])${word}(?![\\w$])`));
        if (at >= 0) {
          const own = ask(file, part.index + at);
          return own.length ? own : [[file, part.index + at]];
        }
      }
    }
    return answers;
  };
}

const ask = {
  vue,
  astro: () => mapped(astroTranslated),
  svelte: () => mapped(svelteTranslated),
}[framework]();
const answers = {};
for (const [file, offsets] of Object.entries(questions)) {
  const full = path.join(root, file);
  answers[file] = {};
  for (const offset of offsets) {
    let found = [];
    try {
      found = ask(full, offset);
    } catch (error) {
      process.stderr.write(`${file}:${offset}: ${error.message}\n`);
    }
    const inside = found.filter(([name]) => name.startsWith(root + '/') && !name.includes('/node_modules/'));
    answers[file][offset] = inside.map(([name, place]) => [path.relative(root, name), place]);
  }
}
process.stdout.write(JSON.stringify(answers));
