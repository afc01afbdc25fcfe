/** Name and address, and a telephone number if requested. */

import { countries, states } from './countries.js';
import { emit, field, serve, show } from './frame.js';

const form = document.getElementById('form');
let options = {};
let parts = {};
let touched = new Set();
let last = '';

const labels = { US: ['ZIP code', 'State'], GB: ['Postal code', 'County'], CA: ['Postal code', 'Province'] };
const value = (id) => parts[id]?.input.value.trim() ?? '';
const shown = (id) => parts[id] !== undefined && !parts[id].wrap.hidden;
const split = () => options.display?.name === 'split';

function build() {
  const mode = options.mode;
  const autocomplete = (name) => `${mode} ${name}`;
  const phone = options.fields?.phone === 'always';
  const names = split()
    ? [
        field({ id: 'firstName', label: 'First name', autocomplete: autocomplete('given-name') }),
        field({ id: 'lastName', label: 'Last name', autocomplete: autocomplete('family-name') }),
      ]
    : [field({ id: 'name', label: 'Full name', autocomplete: autocomplete('name') })];
  const list = [
    ...names,
    field({
      id: 'country',
      label: 'Country or region',
      autocomplete: autocomplete('country'),
      options: countries(options.allowedCountries),
    }),
    field({
      id: 'line1',
      label: 'Address line 1',
      autocomplete: autocomplete('address-line1'),
      placeholder: 'Street address',
    }),
    field({
      id: 'line2',
      label: 'Address line 2',
      autocomplete: autocomplete('address-line2'),
      placeholder: 'Apt., suite, unit number, etc. (optional)',
    }),
    field({ id: 'city', label: 'City', autocomplete: autocomplete('address-level2') }),
    field({
      id: 'state',
      label: 'State',
      autocomplete: autocomplete('address-level1'),
      options: [['', 'Select'], ...states],
    }),
    field({ id: 'postalCode', label: 'ZIP code', autocomplete: autocomplete('postal-code'), maxlength: 12 }),
    ...(phone
      ? [field({ id: 'phone', label: 'Phone number', autocomplete: autocomplete('tel'), inputmode: 'tel' })]
      : []),
  ];
  parts = Object.fromEntries(list.map((part) => [part.input.id, part]));
  form.replaceChildren(...list.map(({ wrap }) => wrap));
  const { address = {}, ...person } = options.defaultValues ?? {};
  for (const [id, text] of Object.entries({ ...person, ...address, postalCode: address.postal_code })) {
    if (parts[id] && text) parts[id].input.value = text;
  }
  if (!value('country')) parts.country.input.selectedIndex = 0;
  updateCountryFields();
}

function updateCountryFields() {
  const [postal, state] = labels[value('country')] ?? ['Postal code', 'Region'];
  parts.postalCode.caption.textContent = postal;
  parts.state.caption.textContent = state;
  // Outside the United States, the name of a city is enough.
  parts.state.wrap.hidden = value('country') !== 'US';
}

const missingMessages = {
  name: 'Please provide your full name.',
  firstName: 'Please provide your first name.',
  lastName: 'Please provide your last name.',
  line1: 'Please provide your address.',
  city: 'Please provide your city.',
  state: 'Please select your state.',
  postalCode: 'Please provide your ZIP code.',
  phone: 'Please provide your phone number.',
};

/** A field's error message; empty if the field is valid. */
function problem(id) {
  if (!shown(id) || id === 'line2' || id === 'country') return '';
  const text = value(id);
  if (id === 'phone') {
    const required = options.validation?.phone?.required !== 'never';
    if (text === '') return required ? missingMessages.phone : '';
    return text.replace(/\D/g, '').length >= 7 ? '' : 'Your phone number is incomplete.';
  }
  if (text === '') return missingMessages[id] ?? '';
  if (id === 'postalCode' && value('country') === 'US' && !/^\d{5}(?:-?\d{4})?$/.test(text))
    return 'Your ZIP code is invalid.';
  if (id === 'line1' && options.blockPoBox && /\bp\.?\s*o\.?\s*box\b/i.test(text))
    return 'We cannot deliver to a P.O. box.';
  return '';
}

const wrong = () => Object.keys(parts).filter((id) => problem(id) !== '');

function address() {
  const name = split() ? `${value('firstName')} ${value('lastName')}`.trim() : value('name');
  return {
    complete: wrong().length === 0,
    isNewAddress: true,
    value: {
      name,
      ...(split() && { firstName: value('firstName'), lastName: value('lastName') }),
      address: {
        line1: value('line1'),
        line2: value('line2') || null,
        city: value('city'),
        state: shown('state') ? value('state') : '',
        postal_code: value('postalCode'),
        country: value('country'),
      },
      ...(parts.phone && { phone: value('phone') }),
    },
  };
}

function changed() {
  for (const [id, { input }] of Object.entries(parts)) show(input, touched.has(id) ? problem(id) : '');
  const empty = Object.keys(parts).every((id) => id === 'country' || value(id) === '');
  const payload = { elementMode: options.mode, empty, ...address() };
  const text = JSON.stringify(payload);
  if (text === last) return;
  last = text;
  emit('change', payload);
}

form.addEventListener('input', ({ target }) => {
  if (target.id === 'country') updateCountryFields();
  changed();
});
form.addEventListener('focusout', ({ target }) => {
  if (target.value) touched.add(target.id);
  changed();
});
form.addEventListener('submit', (event) => event.preventDefault());

serve({
  start(given) {
    options = given.options;
    build();
    // Default values also cause a change event.
    if (options.defaultValues) setTimeout(changed);
  },
  update({ options: changes }) {
    if (!changes) return;
    const before = value('country');
    options = { ...options, ...changes };
    const typed = Object.fromEntries(Object.keys(parts).map((id) => [id, parts[id].input.value]));
    build();
    for (const [id, text] of Object.entries(typed)) if (parts[id]) parts[id].input.value = text;
    if (before) parts.country.input.value = before;
    updateCountryFields();
    changed();
  },
  focus: () => Object.values(parts)[0]?.input.focus(),
  blur: () => document.activeElement?.blur(),
  clear() {
    touched = new Set();
    for (const [id, { input }] of Object.entries(parts)) if (id !== 'country') input.value = '';
    changed();
  },
  value: () => ({ ...address(), elementMode: options.mode }),
  validate() {
    touched = new Set(Object.keys(parts));
    changed();
    const [first] = wrong();
    if (!first) return {};
    parts[first].input.focus();
    return { error: { type: 'validation_error', code: `incomplete_${first}`, message: problem(first) } };
  },
});
