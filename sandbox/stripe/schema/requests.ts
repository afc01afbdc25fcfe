/**
 * Refuses what Stripe refuses in a request before it looks at what the call means: parameters that are unknown, missing, of the
 * wrong type, out of range or too long. Names, types and allowed values come from api.json, messages and codes from
 * docs.stripe.com/error-codes; limits that aren't declared are in limits.ts.
 */
import { ApiError, invalid } from '../core/errors.ts';
import type { Fields as Form } from '../core/params.ts';
import { checkLimits, maxTextLength } from './limits.ts';
import { api } from './read.ts';
import type { Fields, Shape } from './shape.ts';

type Value = string | Form;

/** Parameters that Stripe.js adds to calls with the publishable key. */
const browserParameters = new Set([
  ...['key', 'guid', 'muid', 'sid', 'payment_user_agent', 'client_secret', 'use_stripe_sdk', '_wallet'],
  ...['referrer', 'time_on_page', 'client_attribution_metadata', 'expected_payment_method_type'],
]);

/** @throws {ApiError} 400 */
export function checkRequest(call: string, form: Form, { browser }: { browser: boolean }): void {
  const shape = api.calls[call];
  if (!shape) throw new Error(`The SDK has no call ${call}.`);
  refuseRemovedParams(call, form);
  const fields = shape.params ? (api.shapes[shape.params] ?? {}) : {};
  const own = browser
    ? Object.fromEntries(Object.entries(form).filter(([name]) => !browserParameters.has(name)))
    : form;
  // The key may be among the parameters of any call.
  checkFields(own, { ...fields, 'key?': 'string' }, '');
  checkLimits(call, form);
}

/** Parameters that this API version has removed, each with its own error. */
function refuseRemovedParams(call: string, form: Form): void {
  // docs.stripe.com/changelog/endive/2026-09-30/remove-payment-method-types
  if (/^POST \/v1\/(?:payment|setup)_intents(?:$|\/)/.test(call) && form.payment_method_types !== undefined) {
    throw invalid(
      'The `payment_method_types` parameter is no longer supported in this API version. Use `allowed_payment_method_types` to say which payment methods may be used.',
      'payment_method_types',
      'payment_method_types_no_longer_supported',
    );
  }
}

const under = (path: string, name: string): string => (path ? `${path}[${name}]` : name);

function checkFields(form: Form, fields: Fields, path: string): void {
  const unknownNames = Object.keys(form).filter(
    (name) => !Object.hasOwn(fields, name) && !Object.hasOwn(fields, `${name}?`),
  );
  const [unknown] = unknownNames;
  if (unknown !== undefined) {
    const names = unknownNames.map((name) => under(path, name)).join(', ');
    throw invalid(
      `Received unknown parameter${unknownNames.length > 1 ? 's' : ''}: ${names}`,
      under(path, unknown),
      'parameter_unknown',
    );
  }
  for (const [declared, shape] of Object.entries(fields)) {
    const name = declared.replace(/\?$/, '');
    const value = form[name];
    if (value !== undefined) checkValue(value, shape, under(path, name), name);
    else if (declared === name) {
      throw invalid(`Missing required param: ${under(path, name)}.`, under(path, name), 'parameter_missing');
    }
  }
}

/** @param name last part of the path, which distinguishes percentages from counts */
function checkValue(value: Value, shape: Shape, path: string, name: string): void {
  if (typeof shape === 'object' && 'any' in shape) checkUnion(value, shape.any, path, name);
  else if (typeof shape === 'string' || 'is' in shape) checkText(value, shape, path, name);
  else if (typeof value === 'string') {
    if (value === '') throw emptyString(path);
    throw 'list' in shape ? invalid('Invalid array', path) : invalid('Invalid object', path);
  } else if ('list' in shape) {
    const members = Object.entries(value);
    if (members.some(([index]) => !/^\d+$/.test(index))) throw invalid('Invalid array', path);
    for (const [index, member] of members) checkValue(member, shape.list, `${path}[${index}]`, name);
  } else if ('map' in shape) {
    for (const [key, member] of Object.entries(value)) checkValue(member, shape.map, `${path}[${key}]`, key);
  } else checkFields(value, 'ref' in shape ? (api.shapes[shape.ref] ?? {}) : shape.object, path);
}

const isText = (shape: Shape): boolean => typeof shape === 'string' || 'is' in shape;

function checkUnion(value: Value, shapes: readonly Shape[], path: string, name: string): void {
  if (value === '' && shapes.includes('null')) return;
  const fitting = shapes.filter((shape) => shape !== 'null' && isText(shape) === (typeof value === 'string'));
  // A union with `string` accepts any text.
  if (fitting.includes('string')) fitting.splice(0, fitting.length, 'string');
  if (fitting.length === 0) fitting.push(shapes.find((shape) => shape !== 'null') ?? 'any');
  // Literals next to another type allow what either allows; the error of the last one is thrown.
  let problem: unknown;
  for (const shape of fitting) {
    try {
      checkValue(value, shape, path, name);
      return;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problem = error;
    }
  }
  throw problem;
}

const emptyString = (path: string): ApiError =>
  invalid(
    `You passed an empty string for '${path}'. We assume empty values are an attempt to unset a parameter; however '${path}' cannot be unset. You should remove '${path}' from your request or supply a non-empty value.`,
    path,
    'parameter_invalid_empty',
  );

/** Every value that is sent as text. */
function checkText(
  value: Value,
  shape: Exclude<Shape, object> | { is: readonly (string | number | boolean)[] },
  path: string,
  name: string,
): void {
  if (shape === 'any') return;
  if (typeof value !== 'string') throw invalid(`Invalid ${wordFor(shape)}: ${JSON.stringify(value)}`, path);
  if (typeof shape === 'object') {
    if (shape.is.map(String).includes(value)) return;
    if (value === '') throw emptyString(path);
    throw invalid(`Invalid ${path}: must be ${oneOf(shape.is.map(String).filter((word) => word !== ''))}`, path);
  }
  if (value === '') throw emptyString(path);
  if (shape === 'boolean' && value !== 'true' && value !== 'false') throw invalid(`Invalid boolean: ${value}`, path);
  if (shape === 'decimal' && !/^-?\d+(?:\.\d{1,12})?$/.test(value)) throw invalid(`Invalid decimal: ${value}`, path);
  if (shape === 'number') checkNumber(value, path, name);
  if (shape === 'string' && value.length > maxTextLength(path, name)) {
    const shown = `${value.slice(0, 16)}…${value.slice(-4)}`;
    throw invalid(`Invalid string: ${shown}; must be at most ${maxTextLength(path, name)} characters`, path);
  }
}

const wordFor = (shape: Shape): string => (shape === 'number' ? 'integer' : shape === 'boolean' ? 'boolean' : 'string');

/** Stripe's numbers are whole, except percentages and coordinates. */
function checkNumber(value: string, path: string, name: string): void {
  const isInteger = !/percent/.test(name);
  if (!(isInteger ? /^-?\d+$/ : /^-?\d+(?:\.\d+)?$/).test(value)) {
    throw invalid(
      `Invalid ${isInteger ? 'integer' : 'decimal'}: ${value}`,
      path,
      isInteger ? 'parameter_invalid_integer' : undefined,
    );
  }
}

function oneOf(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? '';
  if (words.length === 2) return `one of ${words.join(' or ')}`;
  return `one of ${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`;
}
