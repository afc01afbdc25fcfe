/** What the schemas say of a value: see generate.ts, which writes them from the vendor's declarations. */

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
  /** What an event of this type is about. */
  readonly events: Readonly<Record<string, Shape>>;
  readonly shapes: Shapes;
}

/** Stripe.js: for each function its overloads, each with the shapes of its arguments; `click.resolve` is handed over by an event. */
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
  /** Names of what it tells a page of. */
  readonly events: readonly string[];
}
