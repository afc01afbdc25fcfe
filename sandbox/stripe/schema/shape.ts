/** Shapes of the values in the schemas, which generate.ts writes from the vendor's declarations. */

export type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  | 'null'
  | 'undefined'
  | 'decimal'
  | 'function'
  | 'any'
  | { readonly is: readonly (string | number | boolean)[] }
  | { readonly any: readonly Shape[] }
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly object: Fields }
  | { readonly ref: string };

/** A field's name ends in `?` when it may be absent. */
export type Fields = { readonly [name: string]: Shape };

/** Fields by the name of their interface. */
export type Shapes = Record<string, Fields>;

/** One call of the API by `POST /v1/customers/:id`. */
export interface ApiCallShape {
  /** Interface of its parameters; `null` when it has none. */
  readonly params: string | null;
  readonly answer: { readonly page: Shape } | { readonly search: Shape } | { readonly one: Shape };
}

export interface ApiSchema {
  readonly sdk: string;
  readonly apiVersion: string;
  readonly calls: Readonly<Record<string, ApiCallShape>>;
  /** The object that an event of this type contains. */
  readonly events: Readonly<Record<string, Shape>>;
  readonly shapes: Shapes;
}

/**
 * Stripe.js: for each function its overloads, each with the shapes of its arguments; `click.resolve` is a function that an event
 * provides.
 */
export interface BrowserSchema {
  readonly stripeJs: string;
  readonly functions: Readonly<Record<string, readonly (readonly Shape[])[]>>;
  readonly elements: Readonly<Record<string, BrowserElement>>;
  readonly shapes: Shapes;
}

export interface BrowserElement {
  /** Options at its creation. */
  readonly create: Shape;
  /** Options of an update. */
  readonly update: Shape;
  /** Names of the events that it sends to a page. */
  readonly events: readonly string[];
}
