/** How a resource declares the calls that it answers. */

import type { Lifecycle } from '../billing/due-tasks.ts';
import type { StripeAccount } from '../core/account.ts';
import { ApiError, noSuch } from '../core/errors.ts';
import type { StripeObject } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import type { Wire } from '../core/present.ts';

/** A call of the API, as its route gets it. */
export interface RouteCall {
  readonly account: StripeAccount;
  readonly lifecycle: Lifecycle;
  readonly params: Params;
  /** `:id` in the path. */
  readonly id: string;
  /** `:nestedId` in the path, such as that of a customer's payment method. */
  readonly nestedId: string;
  /** Whether the caller is a browser, with the publishable key. */
  readonly browser: boolean;
}

export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** `/v1/customers/:id` */
  readonly path: string;
  /** Whether the publishable key is allowed. */
  readonly browser?: boolean;
  /** A `StripeObject` is presented with what `expand[]` asks for; a `{wire}` is sent unchanged. */
  readonly run: (call: RouteCall) => StripeObject | { readonly wire: Wire };
}

export const get = (path: string, run: Route['run'], browser = false): Route => ({ method: 'get', path, run, browser });
export const post = (path: string, run: Route['run'], browser = false): Route => ({
  method: 'post',
  path,
  run,
  browser,
});
export const del = (path: string, run: Route['run']): Route => ({ method: 'delete', path, run });

/** A page of a list, newest first (docs.stripe.com/api/pagination). */
export function page(params: Params, url: string, things: Iterable<StripeObject>): StripeObject {
  const limit = params.int('limit') ?? 10;
  const [after, before] = [params.text('starting_after'), params.text('ending_before')];
  const within = createdWithin(params);
  const all = [...things]
    .filter(within)
    .sort((one, other) => (other.created ?? 0) - (one.created ?? 0) || (other._n ?? 0) - (one._n ?? 0));
  const at = (id: string, param: string) => {
    const index = all.findIndex((thing) => thing.id === id);
    if (index < 0)
      throw new ApiError(400, {
        type: 'invalid_request_error',
        code: 'resource_missing',
        message: `No such object: '${id}'`,
        param,
      });
    return index;
  };
  let [start, end] = [0, limit];
  if (after) {
    start = at(after, 'starting_after') + 1;
    end = start + limit;
  } else if (before) {
    end = at(before, 'ending_before');
    start = Math.max(0, end - limit);
  }
  const more = before && !after ? start > 0 : end < all.length;
  return { object: 'list', data: all.slice(start, end), has_more: more, url } as unknown as StripeObject;
}

function createdWithin(params: Params): (thing: StripeObject) => boolean {
  if (!params.has('created')) return () => true;
  const given = params.raw('created');
  if (typeof given === 'string') return ({ created }) => created === Number(given);
  const tests = Object.entries(given ?? {}).map(([word, value]) => [word, Number(value)] as const);
  return ({ created = 0 }) =>
    tests.every(([word, moment]) =>
      word === 'gt'
        ? created > moment
        : word === 'gte'
          ? created >= moment
          : word === 'lt'
            ? created < moment
            : created <= moment,
    );
}

/** Keeps objects with this value in a field; without a value, all of them. */
export const matching = <T extends StripeObject>(things: Iterable<T>, field: string, value: unknown): T[] =>
  value === undefined || value === null ? [...things] : [...things].filter((thing) => thing[field] === value);

/**
 * Keeps the objects of the customer that the call names. A deleted customer's are listed, too.
 * @throws {ApiError} 400 for a customer that never existed
 */
export function ofCustomer<T extends StripeObject>(
  { account, params }: Pick<RouteCall, 'account' | 'params'>,
  things: Iterable<T>,
): T[] {
  const id = params.text('customer');
  if (id && !account.store.find('customer', id)) throw noSuch('customer', id, 'customer', 400);
  return matching(things, 'customer', id);
}

/** Sets text fields of an object that the call names. */
export function setTexts(thing: StripeObject, params: Params, ...fields: string[]): void {
  for (const field of fields) {
    const value = params.text(field);
    if (value !== undefined) thing[field] = value;
  }
}

export const deleted = (thing: StripeObject): { wire: Wire } => ({
  wire: { id: thing.id, object: thing.object, deleted: true },
});
