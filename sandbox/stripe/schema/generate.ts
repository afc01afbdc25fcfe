/**
 * Writes api.json from the declarations of the pinned `stripe`, and stripe-js.json from those of `@stripe/stripe-js`:
 * `npm run stripe:schema`, after an update of either.
 */
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { openReader, type Reader } from './declarations.ts';
import type { ApiCallShape, ApiSchema, BrowserSchema, Shape, Shapes } from './shape.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');
const sdk = path.join(root, 'node_modules', 'stripe');
const stripeJs = path.join(root, 'node_modules', '@stripe', 'stripe-js');

/** Files of the SDK whose calls the sandbox answers. */
const resources = [
  ...['Subscriptions', 'SubscriptionItems', 'SubscriptionSchedules', 'PaymentIntents', 'SetupIntents', 'Customers'],
  ...['PaymentMethods', 'PaymentMethodDomains', 'Invoices', 'InvoiceItems', 'InvoicePayments', 'Prices', 'Products'],
  ...['Coupons', 'PromotionCodes', 'Charges', 'Refunds', 'Disputes', 'Events', 'WebhookEndpoints', 'Accounts'],
  ...['TestHelpers/TestClocks', 'Tax/Settings', 'CreditNotes', 'ProductCatalog/TrialOffers'],
];

/** Objects that the sandbox can send in place of their ids. */
const expandable = new Set([
  ...['Subscription', 'SubscriptionItem', 'SubscriptionSchedule', 'PaymentIntent', 'SetupIntent', 'Customer'],
  ...['DeletedCustomer', 'PaymentMethod', 'Invoice', 'InvoiceItem', 'InvoicePayment', 'Price', 'Product', 'Coupon'],
  ...['PromotionCode', 'Discount', 'Charge', 'Refund', 'Dispute', 'TestClock', 'CreditNote', 'TrialOffer'],
]);

/** Calls in those files that the sandbox doesn't answer. */
const unused = new RegExp(
  [
    ...[
      'sources',
      'bank_accounts',
      'cash_balance',
      'balance_transactions',
      'tax_ids',
      'verify_microdeposits',
      'capture',
    ],
    ...['increment_authorization', 'apply_customer_balance', 'funding_instructions', 'v1/accounts', 'credit_notes'],
    ...['features', 'fund_cash_balance', 'attach_payment', 'add_lines', 'remove_lines', 'update_lines', 'mandate'],
    ...['POST /v1/webhook_endpoints', 'DELETE /v1/webhook_endpoints', 'migrate', 'charges/search', 'POST /v1/charges'],
  ].join('|'),
);

const versionOf = (folder: string): string =>
  (JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string }).version;

/** Method and path by the name of each function of a resource's class, read from its JavaScript. */
function requestsOf(source: string): Map<string, string> {
  const calls =
    /^ {4}(\w+)\((?:[^)]*)\) \{\s*(?:const [^;]*;\s*)*return this\._makeRequest\('(\w+)', ['`]([^'`]+)['`]/gm;
  return new Map(
    [...source.matchAll(calls)].map(([, name = '', method = '', route = '']) => {
      let ids = 0;
      const pattern = route.replace(/\$\{[^}]*\}/g, () => [':id', ':nestedId', ':thirdId'][ids++] ?? ':more');
      return [name, `${method} ${pattern}`];
    }),
  );
}

const kinds = { ApiListPromise: 'page', ApiSearchResultPromise: 'search' } as const;

/** The response type: `Promise<Response<Customer>>` → `Customer`. */
function answerOf(node: ts.TypeNode | undefined, reader: Reader): ApiCallShape['answer'] {
  if (!node || !ts.isTypeReferenceNode(node)) throw new Error('A call without an answer.');
  const [inner] = node.typeArguments ?? [];
  const name = node.typeName.getText();
  if (!inner) throw new Error(`An answer without a type: ${name}`);
  const shape = (one: ts.TypeNode) => reader.shapeOf(reader.checker.getTypeFromTypeNode(one));
  const kind = kinds[name as keyof typeof kinds];
  if (kind === 'page') return { page: shape(inner) };
  if (kind === 'search') return { search: shape(inner) };
  const response =
    ts.isTypeReferenceNode(inner) && inner.typeName.getText() === 'Response' ? inner.typeArguments?.[0] : inner;
  return { one: shape(response ?? inner) };
}

/** Events are checked by their objects (`events`), not as a union of all events. */
const eventAnswer = (request: string): ApiCallShape['answer'] =>
  request.includes(':id') ? { one: { ref: 'EventBase' } } : { page: { ref: 'EventBase' } };

function readApi(): ApiSchema {
  const fileOf = (name: string) => path.join(sdk, 'esm', 'resources', `${name}.d.ts`);
  const hidden = (type: ts.Type, name: string): boolean => {
    const kind = type.getProperty('object');
    return kind !== undefined && !expandable.has(name);
  };
  const reader = openReader([...resources, 'Discounts'].map(fileOf), { omitExpanded: hidden });
  const calls: Record<string, ApiCallShape> = {};
  for (const resource of resources) {
    const source = reader.file(fileOf(resource));
    const requests = requestsOf(fs.readFileSync(fileOf(resource).replace(/\.d\.ts$/, '.js'), 'utf8'));
    source.forEachChild((node) => {
      if (!ts.isClassDeclaration(node)) return;
      for (const member of node.members) {
        if (!ts.isMethodDeclaration(member)) continue;
        const request = requests.get(member.name.getText());
        if (!request || unused.test(request)) continue;
        const given = member.parameters.find(({ name }) => name.getText() === 'params');
        const params = given?.type ? reader.shapeOf(reader.checker.getTypeFromTypeNode(given.type)) : null;
        // Of two overloads, with and without parameters, the one with parameters is used.
        const name = params && typeof params === 'object' && 'ref' in params ? params.ref : null;
        if (calls[request]?.params && !name) continue;
        calls[request] = {
          params: name,
          answer: request.includes('/v1/events') ? eventAnswer(request) : answerOf(member.type, reader),
        };
      }
    });
  }
  const events = readEvents(reader, fileOf('Events'));
  return {
    sdk: versionOf(sdk),
    apiVersion:
      /ApiVersion = '([^']+)'/.exec(fs.readFileSync(path.join(sdk, 'esm', 'apiVersion.js'), 'utf8'))?.[1] ?? '',
    calls: Object.fromEntries(Object.entries(calls).sort()),
    events,
    shapes: reachable(reader.shapes, [calls, events, Object.values(calls).map(({ params }) => ({ ref: params }))]),
  };
}

/** Interfaces that something refers to, directly or indirectly. */
function reachable(shapes: Shapes, from: unknown): Shapes {
  const found: Shapes = {};
  const look = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"ref":"([^"]+)"/g)) {
      const shape = shapes[name];
      if (!shape || found[name]) continue;
      found[name] = shape;
      look(shape);
    }
  };
  look(from);
  return found;
}

/** Each event's type with its object, for objects that the sandbox knows. */
function readEvents(reader: Reader, file: string): Record<string, Shape> {
  const events: [string, Shape][] = [];
  const base = reader.checker.getExportsOfModule(reader.checker.getSymbolAtLocation(reader.file(file)) as ts.Symbol);
  const event = base.find(({ name }) => name === 'EventBase');
  if (event) reader.shapeOf(reader.checker.getDeclaredTypeOfSymbol(event));
  reader.file(file).forEachChild((node) => {
    if (!ts.isInterfaceDeclaration(node) || !node.name.text.endsWith('Event')) return;
    const type = reader.checker.getTypeAtLocation(node);
    const [name, data] = ['type', 'data'].map((field) => type.getProperty(field));
    const objectField = data && reader.checker.getTypeOfSymbol(data).getProperty('object');
    if (!name || !objectField) return;
    const title = reader.checker.getTypeOfSymbol(name);
    const object = reader.checker.getTypeOfSymbol(objectField);
    // Issuing and Climate have objects of the same names.
    if (!title.isStringLiteral() || /^(?:issuing|climate)/.test(title.value)) return;
    if (!expandable.has(object.symbol?.name)) return;
    events.push([title.value, reader.shapeOf(object)]);
  });
  return Object.fromEntries(events.sort());
}

const browserFunctions = [
  ...['elements', 'confirmPayment', 'confirmSetup', 'createPaymentMethod'],
  ...['handleNextAction', 'confirmCardPayment', 'confirmCardSetup', 'retrievePaymentIntent', 'retrieveSetupIntent'],
];
const groupFunctions = ['update', 'submit', 'fetchUpdates'];
const browserElements = ['payment', 'card', 'address', 'linkAuthentication', 'expressCheckout'];

function readBrowser(): BrowserSchema {
  const folder = path.join(stripeJs, 'dist', 'stripe-js');
  const files = ['stripe.d.ts', 'elements-group.d.ts', 'elements/index.d.ts'].map((name) => path.join(folder, name));
  const opaque = (type: ts.Type, name: string): boolean =>
    /^(?:Stripe|StripeElements|Stripe\w*Element|HTML\w*|Element|Window|Promise|Date)$/.test(name) &&
    !/Options$/.test(name) &&
    type.getProperties().length > 0;
  const reader = openReader(files, { omit: opaque });
  const typeOf = (file: string, name: string): ts.Type => {
    let found: ts.Type | undefined;
    reader.file(path.join(folder, file)).forEachChild((node) => {
      if (ts.isInterfaceDeclaration(node) && node.name.text === name) found = reader.checker.getTypeAtLocation(node);
    });
    if (!found) throw new Error(`${name} is not declared.`);
    return found;
  };
  const overloads = (type: ts.Type, name: string) => {
    const symbol = type.getProperty(name);
    if (!symbol) throw new Error(`${name} is not declared.`);
    return reader.checker.getTypeOfSymbol(symbol).getCallSignatures();
  };
  const argumentsOf = (signature: ts.Signature) =>
    signature.parameters.map((parameter) => reader.checker.getTypeOfSymbol(parameter));
  const group = typeOf('elements-group.d.ts', 'StripeElements');
  const stripe = typeOf('stripe.d.ts', 'Stripe');
  const functions = Object.fromEntries(
    [
      ...browserFunctions.map((name) => [name, overloads(stripe, name)] as const),
      ...groupFunctions.map((name) => [`elements.${name}`, overloads(group, name)] as const),
    ].map(([name, all]) => [name, all.map((one) => argumentsOf(one).map(reader.shapeOf))]),
  );
  /** The events of an element, and the functions in their values. */
  const listenersOf = (name: string, element: ts.Type) => {
    const names = overloads(element, 'on').map((one) => {
      const [event, handler] = argumentsOf(one);
      const [value] = handler?.getCallSignatures().flatMap(argumentsOf) ?? [];
      if (!event?.isStringLiteral()) throw new Error(`${name} has an event without a name.`);
      for (const symbol of value?.getProperties() ?? []) {
        const calls = reader.checker.getTypeOfSymbol(symbol).getNonNullableType().getCallSignatures();
        if (calls.length > 0)
          functions[`${name}.${event.value}.${symbol.name}`] = calls.map((call) =>
            argumentsOf(call).map(reader.shapeOf),
          );
      }
      return event.value;
    });
    return [...new Set(names)].sort();
  };
  const elements = Object.fromEntries(
    browserElements.map((name) => {
      const made = overloads(group, 'create').find((one) => {
        const [first] = argumentsOf(one);
        return first?.isStringLiteral() && first.value === name;
      });
      const options = made && argumentsOf(made)[1];
      if (!made || !options) throw new Error(`${name} has no options.`);
      // Some elements can't be updated.
      const updates = made.getReturnType().getProperty('update') ? overloads(made.getReturnType(), 'update') : [];
      const [update] = updates.map((one) => argumentsOf(one)[0]);
      const shapes = { create: reader.shapeOf(options), update: update ? reader.shapeOf(update) : { object: {} } };
      return [name, { ...shapes, events: listenersOf(name, made.getReturnType()) }];
    }),
  );
  return { stripeJs: versionOf(stripeJs), functions, elements, shapes: reader.shapes };
}

/** One line for each entry, so that the changes of a new release are readable as a diff. */
const lines = (record: Readonly<Record<string, unknown>>): string =>
  `{\n${Object.keys(record)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(record[name])}`)
    .join(',\n')}\n}`;

const write = (file: string, schema: object): void =>
  fs.writeFileSync(
    path.join(import.meta.dirname, file),
    `{\n${Object.entries(schema)
      .map(
        ([name, part]) =>
          `${JSON.stringify(name)}: ${typeof part === 'string' ? JSON.stringify(part) : lines(part as Shapes)}`,
      )
      .join(',\n')}\n}\n`,
  );

/** Called by scripts/run.mjs. */
export function run(): number {
  write('api.json', readApi());
  write('stripe-js.json', readBrowser());
  return 0;
}
