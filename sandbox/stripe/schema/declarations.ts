/**
 * Reads TypeScript declarations into a small schema: what the type checker knows about a type, without its documentation. Used
 * when the schemas are generated, never by the running sandbox.
 */
import ts from 'typescript';
import type { Shape, Shapes } from './shape.ts';

export interface Reader {
  readonly checker: ts.TypeChecker;
  readonly shapes: Shapes;
  file(name: string): ts.SourceFile;
  shapeOf(type: ts.Type): Shape;
}

export interface ReaderOptions {
  /** Whether to replace an interface by `any`. */
  readonly omit?: (type: ts.Type, name: string) => boolean;
  /** Whether to leave an object out of a union with its id. */
  readonly omitExpanded?: (type: ts.Type, name: string) => boolean;
}

interface State {
  readonly checker: ts.TypeChecker;
  readonly shapes: Shapes;
  readonly names: Map<ts.Type, string>;
  readonly options: ReaderOptions;
}

const compilerOptions: ts.CompilerOptions = {
  strict: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.esnext.d.ts', 'lib.dom.d.ts'],
  types: [],
};

/** Opens the declarations that these files import. */
export function openReader(files: readonly string[], options: ReaderOptions = {}): Reader {
  const program = ts.createProgram([...files], compilerOptions);
  const checker = program.getTypeChecker();
  const state: State = { checker, shapes: {}, names: new Map(), options };
  return {
    checker,
    shapes: state.shapes,
    shapeOf: (type) => shapeOf(state, type),
    file(name) {
      const found = program.getSourceFile(name);
      if (!found) throw new Error(`${name}: the file is missing.`);
      return found;
    },
  };
}

/** `Subscription.Item`, without the file; a number distinguishes types of the same name. */
function nameOf({ checker, shapes, names }: State, type: ts.Type, symbol: ts.Symbol): string {
  const known = names.get(type);
  if (known) return known;
  const plain = checker.getFullyQualifiedName(symbol).replace(/^".*"\./, '');
  let name = plain;
  for (let count = 2; Object.hasOwn(shapes, name); count += 1) name = `${plain}_${count}`;
  names.set(type, name);
  return name;
}

const isFree = (type: ts.Type): boolean => (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0;

function shapeOf(state: State, type: ts.Type): Shape {
  if (type.isStringLiteral() || type.isNumberLiteral()) return { is: [type.value] };
  if (type.flags & ts.TypeFlags.BooleanLiteral) return { is: [state.checker.typeToString(type) === 'true'] };
  if (type.flags & ts.TypeFlags.String || type.flags & ts.TypeFlags.TemplateLiteral) return 'string';
  if (type.flags & ts.TypeFlags.Number) return 'number';
  if (type.flags & ts.TypeFlags.Boolean) return 'boolean';
  if (type.flags & ts.TypeFlags.Null) return 'null';
  if (type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never)) return 'undefined';
  if (type.isUnion()) return unionOf(state, type);
  if (isFree(type)) return 'any';
  return objectOf(state, type);
}

function unionOf(state: State, type: ts.UnionType): Shape {
  const { omitExpanded } = state.options;
  const expandable = type.types.some((one) => one.flags & ts.TypeFlags.String);
  const members = type.types.filter((one) => {
    // `OtherString` means that later versions may add values; the API neither accepts nor sends any today.
    if (one.isIntersection() && one.types.some((part) => part.flags & ts.TypeFlags.String)) return false;
    return !(expandable && one.symbol && omitExpanded?.(one, one.symbol.name));
  });
  const literals = new Set<string | number | boolean>();
  const others: Shape[] = [];
  for (const member of members) {
    const shape = shapeOf(state, member);
    if (typeof shape === 'object' && 'is' in shape) for (const value of shape.is) literals.add(value);
    else if (!others.some((other) => JSON.stringify(other) === JSON.stringify(shape))) others.push(shape);
  }
  if (literals.has(true) && literals.has(false)) {
    literals.delete(true);
    literals.delete(false);
    others.push('boolean');
  }
  if (others.includes('any')) return 'any';
  if (literals.size > 0) others.unshift({ is: [...literals].sort() });
  const [first] = others;
  return others.length === 1 && first !== undefined ? first : { any: others };
}

function objectOf(state: State, type: ts.Type): Shape {
  const { checker, shapes, names, options } = state;
  const symbol = type.aliasSymbol ?? type.symbol;
  if (checker.isArrayType(type)) {
    const [member] = checker.getTypeArguments(type as ts.TypeReference);
    return { list: member ? shapeOf(state, member) : 'any' };
  }
  if (/^Decimal/.test(symbol?.name ?? '')) return 'decimal';
  if (type.isIntersection() && type.types.some((part) => part.flags & ts.TypeFlags.String)) return 'string';
  if (type.getCallSignatures().length > 0) return 'function';
  if (symbol && options.omit?.(type, symbol.name)) return 'any';
  const index = checker.getIndexInfosOfType(type).find(({ keyType }) => keyType.flags & ts.TypeFlags.String);
  const properties = checker.getPropertiesOfType(type);
  if (index && properties.length === 0) return { map: shapeOf(state, index.type) };
  // An empty interface is an object with unknown fields.
  if (properties.length === 0) return { map: 'any' };
  const nameless = !symbol || symbol.name.startsWith('__');
  const generic = (type as ts.TypeReference).typeArguments?.length || type.aliasTypeArguments?.length;
  if (nameless || generic) return { object: fieldsOf(state, properties) };
  const known = names.get(type);
  if (known) return { ref: known };
  const name = nameOf(state, type, symbol);
  // A type may refer to itself, so its name is reserved before its fields are read.
  shapes[name] = {};
  shapes[name] = fieldsOf(state, properties);
  return { ref: name };
}

function fieldsOf(state: State, properties: readonly ts.Symbol[]): Record<string, Shape> {
  const { checker } = state;
  const fields: [string, Shape][] = properties.flatMap((property) => {
    if (property.name.startsWith('__@')) return [];
    const type = checker.getTypeOfSymbol(property);
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    // A field that is optional and nullable stays nullable.
    const nullable = optional && type.isUnion() && type.types.some((one) => one.flags & ts.TypeFlags.Null);
    const shape = shapeOf(state, optional ? checker.getNonNullableType(type) : type);
    return [[optional ? `${property.name}?` : property.name, nullable ? withNull(shape) : shape]];
  });
  return Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const withNull = (shape: Shape): Shape =>
  shape === 'any'
    ? shape
    : typeof shape === 'object' && 'any' in shape
      ? { any: [...shape.any, 'null'] }
      : { any: [shape, 'null'] };
