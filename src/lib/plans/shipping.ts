/** The address that the printed paper goes to (spec sections 3 and 5): its fields, what is wrong with them, and how it is written. */
import type { Shipping } from '../billing/wire.ts';
import { type StateCode, stateName, zipBelongsTo } from './states.ts';

/** As they stand in the form. */
export interface ShippingFields {
  readonly name: string;
  readonly line1: string;
  readonly line2: string;
  readonly city: string;
  readonly state: string;
  readonly postal_code: string;
  readonly phone: string;
}
export type ShippingField = keyof ShippingFields;
export type ShippingErrors = Readonly<Partial<Record<ShippingField, string>>>;

export const noFields: ShippingFields = {
  name: '',
  line1: '',
  line2: '',
  city: '',
  state: '',
  postal_code: '',
  phone: '',
};
/** Pages with the form; without a script all of them post to the first. */
export const shippingPages = ['/shipping', '/dashboard/shipping'] as const;
export type ShippingPage = (typeof shippingPages)[number];

/** In the order in which they stand. */
export const shippingFields = Object.keys(noFields) as readonly ShippingField[];

/** Longest value of each field, characters. */
export const longest: Readonly<Record<ShippingField, number>> = {
  name: 200,
  line1: 200,
  line2: 200,
  city: 200,
  state: 2,
  postal_code: 10,
  phone: 40,
};

const missing: ShippingErrors = {
  name: 'Please enter the name that stands on the letter box.',
  line1: 'Please enter the street and number.',
  city: 'Please enter the city.',
  state: 'Please choose the state.',
  postal_code: 'Please enter the ZIP code.',
};

/** The fields of an address that is saved, or empty ones. */
export const fieldsOf = (shipping: Shipping | null): ShippingFields =>
  shipping === null
    ? noFields
    : {
        name: shipping.name,
        line1: shipping.address.line1,
        line2: shipping.address.line2 ?? '',
        city: shipping.address.city,
        state: shipping.address.state,
        postal_code: shipping.address.postal_code,
        phone: shipping.phone ?? '',
      };

/** The fields of a form that was sent; what is not there is empty. */
export const fieldsFrom = (read: (name: ShippingField) => unknown): ShippingFields =>
  Object.fromEntries(
    shippingFields.map((name) => {
      const value = read(name);
      return [name, typeof value === 'string' ? value.replace(/\s+/gu, ' ').trim() : ''];
    }),
  ) as unknown as ShippingFields;

export type CheckedShipping =
  | { readonly ok: true; readonly shipping: Shipping }
  | { readonly ok: false; readonly errors: ShippingErrors };

/** Checks what was typed; the second line is left out of the address where it is empty (spec section 5). */
export function checkShipping(fields: ShippingFields): CheckedShipping {
  const zip = zipOf(fields.postal_code);
  const phone = phoneOf(fields.phone);
  const state = stateName(fields.state);
  const errors: Partial<Record<ShippingField, string>> = {};
  for (const name of shippingFields) {
    if (fields[name] === '' && missing[name]) errors[name] = missing[name];
    else if (fields[name].length > longest[name]) errors[name] = `This is longer than ${longest[name]} characters.`;
  }
  if (!errors.state && state === null) errors.state = missing.state ?? '';
  if (!errors.postal_code) {
    if (zip === null) errors.postal_code = 'A ZIP code has five digits, or nine: 10007 or 10007-1234.';
    else if (state !== null && !zipBelongsTo(zip, fields.state as StateCode)) {
      errors.postal_code = `${zip} is not in ${state}. Please check the ZIP code and the state.`;
    }
  }
  if (!errors.phone && phone === null) errors.phone = 'Invalid phone number';
  if (Object.keys(errors).length > 0 || zip === null || phone === null) return { ok: false, errors };
  const { name, line1, line2, city } = fields;
  return {
    ok: true,
    shipping: {
      name,
      address: {
        line1,
        ...(line2 && { line2 }),
        city,
        state: fields.state,
        postal_code: zip,
        country: 'US',
      },
      ...(phone && { phone }),
    },
  };
}

/** "10007" or "10007-1234"; `null` when it is none. */
function zipOf(text: string): string | null {
  const [, five, four] = /^(\d{5})(?:[ -]?(\d{4}))?$/.exec(text) ?? [];
  return five === undefined ? null : four === undefined ? five : `${five}-${four}`;
}

/** Eleven digits, the first a 1 (spec section 9: US only); empty when there is none, `null` when it is no number. */
function phoneOf(text: string): string | null {
  if (text === '') return '';
  if (!/^[\d\s().+-]+$/.test(text)) return null;
  const digits = text.replace(/\D/g, '');
  const whole = digits.length === 10 ? `1${digits}` : digits;
  return /^1[2-9]\d{9}$/.test(whole) ? `+${whole}` : null;
}

/** Lines of an address, as on an envelope. */
export const envelope = ({ name, address }: Shipping): readonly string[] => [
  name,
  address.line1,
  ...(address.line2 ? [address.line2] : []),
  `${address.city}, ${address.state} ${address.postal_code}`,
];
