import { describe, expect, it, test } from 'vitest';
import { shippingBody } from '../billing/routes.server.ts';
import { readFields } from '../http/form-fields.ts';
import {
  checkShipping,
  envelope,
  type ShippingValues,
  shippingFields,
  shippingOf,
  states,
  valuesOf,
} from './schema.ts';

const good: ShippingValues = {
  name: 'Benjamin Day',
  line1: '222 William Street',
  line2: '',
  city: 'New York',
  state: 'NY',
  postal_code: '10038',
  phone: '',
};

const check = (part: Partial<ShippingValues>) => checkShipping({ ...good, ...part });
const errorsOf = (part: Partial<ShippingValues>) => {
  const checked = check(part);
  return checked.ok ? {} : checked.errors;
};

describe('a valid shipping address', () => {
  it('matches the API’s schema, without empty fields', () => {
    const checked = check({});
    expect(checked).toEqual({
      ok: true,
      shipping: {
        name: 'Benjamin Day',
        address: { line1: '222 William Street', city: 'New York', state: 'NY', postal_code: '10038', country: 'US' },
      },
    });
    expect(checked.ok && shippingBody.safeParse(checked.shipping).success).toBe(true);
  });

  it('keeps a second line, and normalizes phone number and ZIP code', () => {
    const checked = check({ line2: 'Apt. 4', phone: '(212) 555-0183', postal_code: '10038 1234' });
    expect(checked.ok && checked.shipping).toMatchObject({
      phone: '+12125550183',
      address: { line2: 'Apt. 4', postal_code: '10038-1234' },
    });
  });

  it('can be filled into the form again', () => {
    const checked = check({ line2: 'Apt. 4', phone: '12125550183' });
    expect(checked.ok && valuesOf(checked.shipping)).toEqual({ ...good, line2: 'Apt. 4', phone: '+12125550183' });
  });

  it('leaves the form empty when none is saved', () => {
    const empty = { name: '', line1: '', line2: '', city: '', state: '', postal_code: '', phone: '' };
    expect(valuesOf(null)).toEqual(empty);
  });

  it('is formatted as on an envelope', () => {
    const checked = check({ line2: 'Apt. 4' });
    expect(checked.ok && envelope(checked.shipping)).toEqual([
      'Benjamin Day',
      '222 William Street',
      'Apt. 4',
      'New York, NY 10038',
    ]);
  });
});

describe('an invalid shipping address', () => {
  it('has an error for each required field that is empty', () => {
    const checked = checkShipping(valuesOf(null));
    expect(checked.ok ? [] : Object.keys(checked.errors)).toEqual(['name', 'line1', 'city', 'state', 'postal_code']);
  });

  it.each([
    [{ postal_code: '1003' }, 'postal_code', /five digits/],
    [{ postal_code: '10038-12' }, 'postal_code', /five digits/],
    [{ postal_code: 'SW1A 1AA' }, 'postal_code', /five digits/],
    [{ postal_code: '90210' }, 'postal_code', /^90210 is not in New York/],
    [{ state: 'XX' }, 'state', /choose your state/],
    [{ state: 'New York' }, 'state', /at most 2 characters/],
    [{ phone: '555' }, 'phone', /^Invalid phone number$/],
    [{ phone: '+44 20 7946 0000' }, 'phone', /^Invalid phone number$/],
    [{ phone: 'call me' }, 'phone', /^Invalid phone number$/],
    [{ name: 'x'.repeat(201) }, 'name', /at most 200 characters/],
  ] as const)('has an error for one field: %o', (part, field, words) => {
    const errors = errorsOf(part);
    expect(Object.keys(errors)).toEqual([field]);
    expect(errors[field]).toMatch(words);
  });
});

test.each([
  ['TX', '88510'],
  ['TX', '73301'],
  ['NY', '06390'],
  ['NY', '00501'],
  ['DC', '56901'],
  ['AE', '09012'],
  ['AK', '99501'],
  ['WA', '98101'],
  ['CA', '96150'],
  ['HI', '96813'],
  ['PR', '00901'],
])('the state %s accepts the ZIP code %s', (state, postal_code) => {
  expect(errorsOf({ state, postal_code })).toEqual({});
});

test('the states are the fifty, D.C., five territories and three for the military', () => {
  expect(states).toHaveLength(50 + 1 + 5 + 3);
  expect(new Set(states.map(({ code }) => code)).size).toBe(states.length);
});

test('spaces in submitted form fields are trimmed and collapsed', () => {
  const form = new URLSearchParams({ name: '  Ann \n Smith ', city: 'New  York' });
  expect(readFields(shippingFields, (name) => form.get(name))).toEqual({
    ...valuesOf(null),
    name: 'Ann Smith',
    city: 'New York',
  });
});

describe('a shipping address from Stripe', () => {
  it('leaves out an empty second line and an empty phone', () => {
    const address = { line1: '1 Pearl St', city: 'New York', state: 'NY', postal_code: '10004', country: 'US' };
    expect(shippingOf({ name: 'Ada', address: { ...address, line2: null }, phone: '' })).toEqual({
      name: 'Ada',
      address,
    });
    expect(shippingOf({ name: 'Ada', address: { ...address, line2: '4B' }, phone: '+12125550183' })).toEqual({
      name: 'Ada',
      phone: '+12125550183',
      address: { ...address, line2: '4B' },
    });
  });
});
