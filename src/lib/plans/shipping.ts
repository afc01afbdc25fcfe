/** The shipping address of the print edition (spec sections 3 and 5): fields, limits, checks, and the states they are in. */
import type { Shipping } from '../billing/wire.ts';
import { shipping as messages } from './messages.ts';

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
  name: messages.name,
  line1: messages.line1,
  city: messages.city,
  state: messages.state,
  postal_code: messages.zip,
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
    else if (fields[name].length > longest[name]) errors[name] = messages.tooLong(longest[name]);
  }
  if (!errors.state && state === null) errors.state = messages.state;
  if (!errors.postal_code) {
    if (zip === null) errors.postal_code = messages.zipForm;
    else if (state !== null && !zipBelongsTo(zip, fields.state as StateCode)) {
      errors.postal_code = messages.zipElsewhere(zip, state);
    }
  }
  if (!errors.phone && phone === null) errors.phone = messages.phone;
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

/** An address from Stripe's address fields; `line2` is left out when it is empty (spec section 5). */
export function shippingOf(value: {
  name: string;
  address: { line1: string; line2?: string | null; city: string; state: string; postal_code: string; country: string };
  phone?: string | undefined;
}): Shipping {
  const { line2, ...address } = value.address;
  return {
    name: value.name,
    address: { ...address, ...(line2 && { line2 }) },
    ...(value.phone && { phone: value.phone }),
  };
}

/** Lines of an address, as on an envelope. */
export const envelope = ({ name, address }: Shipping): readonly string[] => [
  name,
  address.line1,
  ...(address.line2 ? [address.line2] : []),
  `${address.city}, ${address.state} ${address.postal_code}`,
];

/** Code, name, and the first digits that ZIP codes there begin with (USPS, "L002, 3-digit ZIP code prefix groups"). */
const table = [
  ['AL', 'Alabama', '35 36'],
  ['AK', 'Alaska', '995 996 997 998 999'],
  ['AZ', 'Arizona', '85 86'],
  ['AR', 'Arkansas', '71 72'],
  ['CA', 'California', '90 91 92 93 94 95 960 961'],
  ['CO', 'Colorado', '80 81'],
  ['CT', 'Connecticut', '06'],
  ['DE', 'Delaware', '197 198 199'],
  ['DC', 'District of Columbia', '20 569'],
  ['FL', 'Florida', '32 33 34'],
  ['GA', 'Georgia', '30 31 398 399'],
  ['HI', 'Hawaii', '967 968'],
  ['ID', 'Idaho', '83'],
  ['IL', 'Illinois', '60 61 62'],
  ['IN', 'Indiana', '46 47'],
  ['IA', 'Iowa', '50 51 52'],
  ['KS', 'Kansas', '66 67'],
  ['KY', 'Kentucky', '40 41 42'],
  ['LA', 'Louisiana', '70 71'],
  ['ME', 'Maine', '03 04'],
  ['MD', 'Maryland', '20 21'],
  ['MA', 'Massachusetts', '01 02 055'],
  ['MI', 'Michigan', '48 49'],
  ['MN', 'Minnesota', '55 56'],
  ['MS', 'Mississippi', '38 39'],
  ['MO', 'Missouri', '63 64 65'],
  ['MT', 'Montana', '59'],
  ['NE', 'Nebraska', '68 69'],
  ['NV', 'Nevada', '88 89'],
  ['NH', 'New Hampshire', '03'],
  ['NJ', 'New Jersey', '07 08'],
  ['NM', 'New Mexico', '87 88'],
  ['NY', 'New York', '10 11 12 13 14 005 06390'],
  ['NC', 'North Carolina', '27 28'],
  ['ND', 'North Dakota', '58'],
  ['OH', 'Ohio', '43 44 45'],
  ['OK', 'Oklahoma', '73 74'],
  ['OR', 'Oregon', '97'],
  ['PA', 'Pennsylvania', '15 16 17 18 19'],
  ['RI', 'Rhode Island', '02'],
  ['SC', 'South Carolina', '29'],
  ['SD', 'South Dakota', '57'],
  ['TN', 'Tennessee', '37 38'],
  ['TX', 'Texas', '73 75 76 77 78 79 885'],
  ['UT', 'Utah', '84'],
  ['VT', 'Vermont', '05'],
  ['VA', 'Virginia', '201 22 23 24'],
  ['WA', 'Washington', '98 990 991 992 993 994'],
  ['WV', 'West Virginia', '24 25 26'],
  ['WI', 'Wisconsin', '53 54'],
  ['WY', 'Wyoming', '82 83'],
  ['AS', 'American Samoa', '96799'],
  ['GU', 'Guam', '969'],
  ['MP', 'Northern Mariana Islands', '969'],
  ['PR', 'Puerto Rico', '006 007 009'],
  ['VI', 'US Virgin Islands', '008'],
  ['AA', 'Armed Forces Americas', '340'],
  ['AE', 'Armed Forces Europe', '09'],
  ['AP', 'Armed Forces Pacific', '96'],
] as const;

export type StateCode = (typeof table)[number][0];

/** In the order in which they are offered. */
export const states: readonly { readonly code: StateCode; readonly name: string }[] = table.map(([code, name]) => ({
  code,
  name,
}));

/** Name of a state by its code of two letters; `null` when there is none. */
export const stateName = (code: string): string | null => table.find(([each]) => each === code)?.[1] ?? null;

/** Whether a ZIP code may be in a state. */
export const zipBelongsTo = (zip: string, state: StateCode): boolean =>
  (table.find(([code]) => code === state)?.[2] ?? '').split(' ').some((start) => zip.startsWith(start));
