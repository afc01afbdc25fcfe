/** The forms of the shipping address (spec sections 3 and 5) and of a change of plan: fields, limits, checks. */
import { limits, type Shipping, type SwitchAsk } from '../billing/schema.ts';
import { checkFields, type FieldErrors, type Fields, type Values } from '../http/form-fields.ts';
import { shipping as messages } from './messages.ts';

export type ShippingField = 'name' | 'line1' | 'line2' | 'city' | 'state' | 'postal_code' | 'phone';
export type ShippingValues = Values<ShippingField>;
export type ShippingErrors = FieldErrors<ShippingField>;

/** In the order of the form. */
export const shippingFields: Fields<ShippingField> = {
  name: { label: 'Name', autoComplete: 'name', longest: limits.line, missing: messages.name },
  line1: { label: 'Address', autoComplete: 'address-line1', longest: limits.line, missing: messages.line1 },
  line2: { label: 'Apartment, floor', autoComplete: 'address-line2', longest: limits.line },
  city: { label: 'City', autoComplete: 'address-level2', longest: limits.line, missing: messages.city },
  state: {
    label: 'State',
    autoComplete: 'address-level1',
    half: true,
    longest: 2,
    missing: messages.state,
    check: (value) => (stateName(value) === null ? messages.state : null),
  },
  postal_code: {
    label: 'ZIP code',
    autoComplete: 'postal-code',
    half: true,
    longest: 10,
    missing: messages.zip,
    check: (value) => (zipOf(value) === null ? messages.zipForm : null),
  },
  phone: {
    label: 'Phone',
    kind: 'tel',
    autoComplete: 'tel',
    longest: limits.phone,
    check: (value) => (phoneOf(value) === null ? messages.phone : null),
  },
};

/** Pages with the form. Without JavaScript both post to the first. */
export const shippingPages = ['/shipping', '/dashboard/shipping'] as const;
export type ShippingPage = (typeof shippingPages)[number];

/** The form's values for a saved address; empty without one. */
export const valuesOf = (shipping: Shipping | null): ShippingValues => ({
  name: shipping?.name ?? '',
  line1: shipping?.address.line1 ?? '',
  line2: shipping?.address.line2 ?? '',
  city: shipping?.address.city ?? '',
  state: shipping?.address.state ?? '',
  postal_code: shipping?.address.postal_code ?? '',
  phone: shipping?.phone ?? '',
});

export type CheckedShipping =
  | { readonly ok: true; readonly shipping: Shipping }
  | { readonly ok: false; readonly errors: ShippingErrors };

/** Checks the values. An empty second line is left out of the address (spec section 5). */
export function checkShipping(values: ShippingValues): CheckedShipping {
  const { name, line1, line2, city, state } = values;
  const errors: Partial<Record<ShippingField, string>> = { ...checkFields(shippingFields, values) };
  const zip = zipOf(values.postal_code);
  const phone = phoneOf(values.phone);
  if (zip !== null && !errors.postal_code && !errors.state && !zipBelongsTo(zip, state)) {
    errors.postal_code = messages.zipElsewhere(zip, stateName(state) ?? state);
  }
  if (Object.keys(errors).length > 0 || zip === null || phone === null) return { ok: false, errors };
  const address = { line1, ...(line2 && { line2 }), city, state, postal_code: zip, country: 'US' };
  return { ok: true, shipping: { name, address, ...(phone && { phone }) } };
}

/** "10007" or "10007-1234"; `null` for anything else. */
function zipOf(text: string): string | null {
  const [, five, four] = /^(\d{5})(?:[ -]?(\d{4}))?$/.exec(text) ?? [];
  return five === undefined ? null : four === undefined ? five : `${five}-${four}`;
}

/** Eleven digits, the first a 1 (spec section 9: US only); empty without a number, `null` for anything else. */
function phoneOf(text: string): string | null {
  if (text === '') return '';
  if (!/^[\d\s().+-]+$/.test(text)) return null;
  const digits = text.replace(/\D/g, '');
  const whole = digits.length === 10 ? `1${digits}` : digits;
  return /^1[2-9]\d{9}$/.test(whole) ? `+${whole}` : null;
}

/** An address from Stripe's address fields, without an empty `line2` (spec section 5). */
export function shippingOf({ name, address: { line2, ...address }, phone }: Shipping): Shipping {
  return { name, address: { ...address, ...(line2 && { line2 }) }, ...(phone && { phone }) };
}

/** Lines of an address, as on an envelope. */
export const envelope = ({ name, address }: Shipping): readonly string[] => [
  name,
  address.line1,
  ...(address.line2 ? [address.line2] : []),
  `${address.city}, ${address.state} ${address.postal_code}`,
];

/** Code, name, and the first digits that ZIP codes there begin with (USPS, "L002, 3-digit ZIP code prefix groups"). */
const stateTable = [
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

export const states: readonly { readonly code: string; readonly name: string }[] = stateTable.map(([code, name]) => ({
  code,
  name,
}));

/** The name of a state by its code of two letters; `null` if there is none. */
const stateName = (code: string): string | null => states.find((state) => state.code === code)?.name ?? null;

const zipBelongsTo = (zip: string, state: string): boolean =>
  (stateTable.find(([code]) => code === state)?.[2] ?? '').split(' ').some((start) => zip.startsWith(start));

/** The hidden fields of a change of plan: the decision's id, and the quote that was shown. */
export const switchFields = {
  attempt: 'attempt',
  expected: 'expected',
  prorationDate: 'prorationDate',
  subscriptionId: 'subscription',
} as const;

/** Reads a change of plan; malformed values are left out. */
export function readSwitch(read: (name: string) => string | null): Omit<SwitchAsk, 'planId'> {
  const whole = (name: string) => (/^\d{1,15}$/.test(read(name) ?? '') ? Number(read(name)) : undefined);
  const attempt = read(switchFields.attempt) ?? '';
  return {
    attempt: /^[\da-f-]{36}$/.test(attempt) ? attempt : undefined,
    expected: whole(switchFields.expected),
    prorationDate: whole(switchFields.prorationDate),
    subscriptionId: /^sub_\w{1,200}$/.exec(read(switchFields.subscriptionId) ?? '')?.[0],
  };
}
