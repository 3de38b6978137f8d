// Prints what each name in the templates of an Angular program means, as its own compiler says:
// [{file, line, name, kind, targets: [[file, line]]}].
//
//     node angular_definitions.mjs REPOSITORY TSCONFIG
//
// The repository needs its node_modules, with @angular/compiler-cli.
import { createRequire } from "node:module";
import { resolve, relative } from "node:path";
import { pathToFileURL } from "node:url";

const [root, tsconfig] = [resolve(process.argv[2]), resolve(process.argv[2], process.argv[3])];
const require = createRequire(resolve(root, "package.json"));
async function load(name) {
  const loaded = await import(pathToFileURL(require.resolve(name)).href);
  return { ...loaded, ...loaded.default };
}
const cli = await load("@angular/compiler-cli");
const ng = await load("@angular/compiler");
const ts = await load("typescript");

const config = cli.readConfiguration(tsconfig);
const options = { ...config.options, strictTemplates: true, noEmit: true, _enableTemplateTypeChecker: true };
const host = cli.createCompilerHost({ options });
const program = new cli.NgtscProgram(config.rootNames, options, host);
program.compiler.enableTemplateTypeChecker = true;
await program.loadNgStructureAsync();
const checker = program.compiler.getTemplateTypeChecker();
const typeChecker = program.getTsProgram().getTypeChecker();
const rows = [];
const own = (file) => !file.includes("node_modules") && !relative(root, file).startsWith("..");
const texts = new Map();

function lineOf(file, offset) {
  if (!texts.has(file)) texts.set(file, ts.sys.readFile(file) ?? "");
  return texts.get(file).slice(0, offset).split("\n").length;
}

function placesOf(symbol) {
  const places = [];
  for (const declaration of symbol?.declarations ?? []) {
    const source = declaration.getSourceFile();
    if (!own(source.fileName) || source.fileName.includes("ngtypecheck")) continue;
    const name = ts.getNameOfDeclaration(declaration) ?? declaration;
    const line = source.getLineAndCharacterOfPosition(name.getStart()).line + 1;
    places.push([relative(root, source.fileName), line]);
  }
  return places;
}

// Since Angular 21 a symbol of a template only has a place in the code that the compiler makes to
// check the template.
function symbolOf(info) {
  if (!info || info.tsSymbol) return info?.tsSymbol;
  const place = info.ref ?? info.tcbLocation;
  if (!place) return undefined;
  const current = program.compiler.getCurrentProgram();
  const at = place.position ?? place.positionInFile;
  let node = current.getSourceFile(place.filePath ?? place.tcbPath);
  for (let below = node; below; below = ts.forEachChild(node, (child) => (child.getStart() <= at && at < child.end ? child : undefined))) node = below;
  if (node?.name && info.ref) node = node.name;
  return node && current.getTypeChecker().getSymbolAtLocation(node);
}

function pipeClass(symbol) {
  if (!symbol?.classSymbol) return undefined;
  return symbol.classSymbol.tsSymbol ?? checker.getTypeOfSymbol?.(symbol.classSymbol)?.symbol;
}

function add(file, offset, name, kind, targets) {
  if (targets.length) rows.push({ file: relative(root, file), line: lineOf(file, offset), name, kind, targets });
}

const SKIPPED = /[sS]pan$|^(i18n|metadata|source|location|parent)$/;

class Uses {
  constructor(component, file) {
    this.component = component;
    this.file = file;
    this.seen = new Set();
  }
  // Takes a node and all nodes below it; versions of Angular differ in their visitors.
  all(value) {
    const pending = [value];
    while (pending.length) {
      const one = pending.pop();
      if (one === null || typeof one !== "object" || this.seen.has(one)) continue;
      this.seen.add(one);
      if (!Array.isArray(one)) this.visit(one);
      for (const [key, below] of Object.entries(one)) if (!SKIPPED.test(key)) pending.push(below);
    }
  }
  symbol(node) {
    try {
      return checker.getSymbolOfNode(node, this.component);
    } catch {
      return null;
    }
  }
  directives(node, tag) {
    const symbol = this.symbol(node);
    for (const directive of symbol?.directives ?? []) {
      const places = placesOf(symbolOf(directive));
      const selector = directive.selector ?? "";
      const words = selector.replace(/:not\([^)]*\)/g, "");
      if (tag && new RegExp(`(^|,)\\s*${tag.replace(/[^\w-]/g, "")}(?![\\w-])`).test(words)) {
        add(this.file, node.startSourceSpan.start.offset, tag, "component", places);
      }
      for (const part of [...(node.attributes ?? []), ...(node.inputs ?? []), ...(node.outputs ?? []), ...(node.templateAttrs ?? [])]) {
        if (words.includes(`[${part.name}`) && part.keySpan) {
          add(this.file, part.keySpan.start.offset, part.name, "directive", places);
        }
      }
    }
  }
  visit(node) {
    if (node instanceof ng.TmplAstElement) this.directives(node, node.name);
    else if (node instanceof ng.TmplAstTemplate) this.directives(node, "");
    else if (node instanceof ng.TmplAstBoundAttribute || node instanceof ng.TmplAstTextAttribute || node instanceof ng.TmplAstBoundEvent) {
      const symbol = this.symbol(node);
      const kind = node instanceof ng.TmplAstBoundEvent ? "output" : "input";
      for (const binding of symbol?.bindings ?? []) {
        const span = node.keySpan;
        if (span) add(this.file, span.start.offset, node.name, kind, placesOf(symbolOf(binding)));
      }
    } else if (node instanceof ng.BindingPipe) {
      const symbol = this.symbol(node);
      const places = [...placesOf(symbolOf(symbol)), ...placesOf(pipeClass(symbol))];
      add(this.file, node.nameSpan.start, node.name, "pipe", places);
    } else if (node instanceof ng.PropertyRead || node instanceof ng.SafePropertyRead) {
      // A variable of the template is no use of a definition.
      const symbol = this.symbol(node);
      if (symbol && !symbol.declaration) {
        const bare = node.receiver instanceof ng.ImplicitReceiver;
        add(this.file, node.nameSpan.start, node.name, bare ? "name" : "member", placesOf(symbolOf(symbol)));
      }
    }
  }
}

function visitClass(node) {
  if (ts.isClassDeclaration(node)) {
    const template = checker.getTemplate(node);
    if (template?.length) {
      const file = resolve(root, template[0].sourceSpan.start.file.url);
      if (own(file)) {
        const visitor = new Uses(node, file);
        visitor.all(template);
        program_templates.add(relative(root, file));
      }
    }
  }
  ts.forEachChild(node, visitClass);
}

const program_templates = new Set();
for (const source of program.getTsProgram().getSourceFiles()) {
  if (!source.isDeclarationFile && own(source.fileName)) ts.forEachChild(source, visitClass);
}
process.stdout.write(JSON.stringify({ templates: [...program_templates], rows }));
