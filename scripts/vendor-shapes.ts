/**
 * Describes the browser APIs of vendors for the sandbox's stand-ins, which reject calls that the vendor wouldn't accept: methods, their
 * arguments and options, as JSON (sandbox/third-party/vendor-shapes.json). A test compares the file with the installed type
 * declarations; `node scripts/vendor-shapes.ts` writes it again after an update.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './setup/places.mjs';

/** A type, as far as a call can be held to it. */
export type Shape =
  | { readonly kind: 'any' | 'string' | 'number' | 'boolean' | 'null' | 'undefined' | 'function' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'union'; readonly of: readonly Shape[] }
  | { readonly kind: 'array'; readonly of: Shape }
  | { readonly kind: 'tuple'; readonly of: readonly Shape[] }
  | {
      readonly kind: 'object';
      readonly required: readonly string[];
      readonly fields: Readonly<Record<string, Shape>>;
      readonly rest?: Shape;
    };

/** Members of an interface: the shapes of a method's arguments, or `null` if it isn't a method. */
export type Members = Readonly<Record<string, { readonly arguments: readonly Shape[]; readonly least: number } | null>>;

export interface VendorShapes {
  readonly interfaces: Readonly<Record<string, Members>>;
  readonly types: Readonly<Record<string, Shape>>;
}

/** What is read of each vendor's declarations: interfaces, whose members are called, and types, which are passed to calls. */
const wanted = {
  gpt: {
    source: '/// <reference types="google-publisher-tag" />',
    interfaces: {
      googletag: 'typeof googletag',
      PubAdsService: 'googletag.PubAdsService',
      Slot: 'googletag.Slot',
      SizeMappingBuilder: 'googletag.SizeMappingBuilder',
    },
    types: {},
  },
  onesignal: {
    source: "import type { IInitObject, IOneSignalOneSignal } from 'react-onesignal';",
    interfaces: {
      OneSignal: 'IOneSignalOneSignal',
      User: "IOneSignalOneSignal['User']",
      PushSubscription: "IOneSignalOneSignal['User']['PushSubscription']",
      Notifications: "IOneSignalOneSignal['Notifications']",
    },
    types: {},
  },
  gtm: {
    source: '/// <reference types="gtag.js" />',
    interfaces: {},
    types: { ConsentArg: 'Gtag.ConsentArg', ConsentParams: 'Gtag.ConsentParams' },
  },
} as const satisfies Record<
  string,
  { source: string; interfaces: Record<string, string>; types: Record<string, string> }
>;

/** Types nested deeper than this are not checked; our calls have none. */
const deepest = 6;

export const shapesFile = join(root, 'sandbox', 'third-party', 'vendor-shapes.json');

/** @returns the shapes of each vendor, from the packages that are installed */
export function vendorShapes(): Readonly<Record<string, VendorShapes>> {
  const result: Record<string, VendorShapes> = {};
  for (const [vendor, { source, interfaces, types }] of Object.entries(wanted)) {
    const names = { ...interfaces, ...types };
    const text = [
      source,
      ...Object.entries(names).map(([name, type]) => `declare const the_${name}: ${type};`),
      'export {};',
    ];
    const { checker, file } = compile(text.join('\n'));
    const typeOf = (name: string): ts.Type => {
      const found = checker.getSymbolsInScope(file, ts.SymbolFlags.Variable).find((one) => one.name === `the_${name}`);
      if (!found) throw new Error(`${vendor}: ${name} is not declared.`);
      return checker.getTypeOfSymbol(found);
    };
    result[vendor] = {
      interfaces: Object.fromEntries(
        Object.keys(interfaces).map((name) => [name, membersOf(checker, typeOf(name), file)]),
      ),
      types: Object.fromEntries(Object.keys(types).map((name) => [name, shapeOf(checker, typeOf(name), file, 0)])),
    };
  }
  return result;
}

function compile(text: string): { checker: ts.TypeChecker; file: ts.SourceFile } {
  const name = join(root, 'vendor-shapes.generated.ts');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (path, version) =>
    path === name ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext) : read(path, version);
  const program = ts.createProgram([name], options, host);
  const file = program.getSourceFile(name);
  const [problem] = file ? program.getSemanticDiagnostics(file) : [];
  if (!file || problem)
    throw new Error(`Vendors' types: ${ts.flattenDiagnosticMessageText(problem?.messageText, ' ')}`);
  return { checker: program.getTypeChecker(), file };
}

function membersOf(checker: ts.TypeChecker, type: ts.Type, at: ts.Node): Members {
  const members: Record<string, Members[string]> = {};
  for (const symbol of checker.getPropertiesOfType(type).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const signatures = checker.getTypeOfSymbolAtLocation(symbol, at).getCallSignatures();
    // Of several signatures, an argument may match any of them.
    const longest = Math.max(0, ...signatures.map(({ parameters }) => parameters.length));
    members[symbol.name] =
      signatures.length === 0
        ? null
        : {
            arguments: Array.from({ length: longest }, (_, place) => argumentAt(checker, signatures, place, at)),
            least: Math.min(...signatures.map((signature) => leastOf(signature))),
          };
  }
  return members;
}

const leastOf = ({ declaration }: ts.Signature): number =>
  declaration?.parameters.filter((one) => ts.isParameter(one) && !one.questionToken && !one.dotDotDotToken).length ?? 0;

function argumentAt(checker: ts.TypeChecker, signatures: readonly ts.Signature[], place: number, at: ts.Node): Shape {
  const shapes = signatures.flatMap(({ parameters }) => {
    const parameter = parameters[place];
    return parameter ? [shapeOf(checker, checker.getTypeOfSymbolAtLocation(parameter, at), at, 0)] : [];
  });
  return unionOf(shapes);
}

function unionOf(shapes: readonly Shape[]): Shape {
  const different = [...new Map(shapes.map((shape) => [JSON.stringify(shape), shape])).values()];
  const [only] = different;
  return different.length === 1 && only ? only : { kind: 'union', of: different };
}

function shapeOf(checker: ts.TypeChecker, type: ts.Type, at: ts.Node, depth: number): Shape {
  const { flags } = type;
  if (depth > deepest || flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.TypeParameter))
    return { kind: 'any' };
  if (type.isStringLiteral() || type.isNumberLiteral()) return { kind: 'literal', value: type.value };
  if (flags & ts.TypeFlags.BooleanLiteral) return { kind: 'literal', value: checker.typeToString(type) === 'true' };
  if (flags & ts.TypeFlags.StringLike) return { kind: 'string' };
  if (flags & ts.TypeFlags.NumberLike) return { kind: 'number' };
  if (flags & ts.TypeFlags.Boolean) return { kind: 'boolean' };
  if (flags & ts.TypeFlags.Null) return { kind: 'null' };
  if (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)) return { kind: 'undefined' };
  if (type.isUnion()) return unionOf(type.types.map((part) => shapeOf(checker, part, at, depth + 1)));
  if (type.getCallSignatures().length > 0) return { kind: 'function' };
  if (checker.isTupleType(type)) {
    return {
      kind: 'tuple',
      of: checker.getTypeArguments(type as ts.TypeReference).map((part) => shapeOf(checker, part, at, depth + 1)),
    };
  }
  if (checker.isArrayType(type)) {
    const [part] = checker.getTypeArguments(type as ts.TypeReference);
    return { kind: 'array', of: part ? shapeOf(checker, part, at, depth + 1) : { kind: 'any' } };
  }
  // DOM types (such as elements) and vendor objects with methods, which callers only pass on, aren't described further.
  const declared = type.symbol?.declarations?.some((one) => /\/lib\.[\w.]*d\.ts$/.test(one.getSourceFile().fileName));
  if (declared || checker.getPropertiesOfType(type).some((one) => isMethod(checker, one, at))) return { kind: 'any' };
  return objectOf(checker, type, at, depth);
}

function isMethod(checker: ts.TypeChecker, symbol: ts.Symbol, at: ts.Node): boolean {
  const type = checker.getTypeOfSymbolAtLocation(symbol, at);
  return (symbol.flags & ts.SymbolFlags.Method) !== 0 && type.getCallSignatures().length > 0;
}

/** An index signature that takes anything (`[key: string]: unknown`) is left out: it would let every misspelled name pass. */
function objectOf(checker: ts.TypeChecker, type: ts.Type, at: ts.Node, depth: number): Shape {
  const symbols = checker.getPropertiesOfType(type).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const isOptional = (symbol: ts.Symbol) => (symbol.flags & ts.SymbolFlags.Optional) !== 0;
  const fields = Object.fromEntries(
    symbols.map((symbol) => [
      symbol.name,
      shapeOf(checker, checker.getTypeOfSymbolAtLocation(symbol, at), at, depth + 1),
    ]),
  );
  const required = symbols.filter((symbol) => !isOptional(symbol)).map(({ name }) => name);
  const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  const rest = index ? shapeOf(checker, index, at, depth + 1) : null;
  return rest && rest.kind !== 'any'
    ? { kind: 'object', required, fields, rest }
    : { kind: 'object', required, fields };
}

if (import.meta.main) writeFileSync(shapesFile, `${JSON.stringify(vendorShapes())}\n`);
