/** Card fields: number, expiration date, security code, country and postal code; or a wallet, if the page allows wallets. */
import { call } from './calls.js';
import { countries } from './countries.js';
import { emit, field, serve, show } from './frame.js';

const form = document.getElementById('form');
const compact = location.pathname.endsWith('/card');
let key = '';
let options = {};
let wallet = false;
let touched = new Set();
let last = '';

const number = field({
  id: 'number',
  label: 'Card number',
  autocomplete: 'cc-number',
  inputmode: 'numeric',
  placeholder: '1234 1234 1234 1234',
  maxlength: 23,
});
const expiry = field({
  id: 'expiry',
  label: 'Expiration date',
  autocomplete: 'cc-exp',
  inputmode: 'numeric',
  placeholder: 'MM / YY',
  maxlength: 9,
});
const cvc = field({
  id: 'cvc',
  label: 'Security code',
  autocomplete: 'cc-csc',
  inputmode: 'numeric',
  placeholder: 'CVC',
  maxlength: 4,
});
const country = field({ id: 'country', label: 'Country', autocomplete: 'billing country', options: countries() });
const postalCode = field({
  id: 'postalCode',
  label: 'ZIP code',
  autocomplete: 'billing postal-code',
  placeholder: '12345',
  maxlength: 10,
});
const inputs = [number, expiry, cvc, country, postalCode].map(({ input }) => input);

const digits = (input) => input.value.replace(/\D/g, '');
const isAmex = () => /^3[47]/.test(digits(number.input));

function passesLuhn(text) {
  let sum = 0;
  [...text].reverse().forEach((character, index) => {
    const digit = Number(character) * (index % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  });
  return sum % 10 === 0;
}

/** `{month, year}` of the date, as far as they have been typed. */
function date() {
  const text = digits(expiry.input);
  if (text.length < 4) return null;
  return {
    month: Number(text.slice(0, 2)),
    year: text.length >= 6 ? Number(text.slice(2, 6)) : 2000 + Number(text.slice(2, 4)),
  };
}

/** A field's error: Stripe's code and message; `null` if the field is valid. */
const problems = {
  number() {
    const text = digits(number.input);
    const length = isAmex() ? 15 : /^3(?:0|6|8)/.test(text) ? 14 : 16;
    if (text.length < length) return ['incomplete_number', 'Your card number is incomplete.'];
    return passesLuhn(text) ? null : ['invalid_number', 'Your card number is invalid.'];
  },
  expiry() {
    const found = date();
    if (!found) return ['incomplete_expiry', "Your card's expiration date is incomplete."];
    const { month, year } = found;
    if (month < 1 || month > 12) return ['invalid_expiry_month', "Your card's expiration date is invalid."];
    const today = new Date();
    if (year < today.getFullYear()) return ['invalid_expiry_year_past', "Your card's expiration year is in the past."];
    if (year === today.getFullYear() && month < today.getMonth() + 1) {
      return ['invalid_expiry_month_past', "Your card's expiration date is in the past."];
    }
    return year > today.getFullYear() + 50 ? ['invalid_expiry_year', "Your card's expiration year is invalid."] : null;
  },
  cvc() {
    return digits(cvc.input).length === (isAmex() ? 4 : 3)
      ? null
      : ['incomplete_cvc', "Your card's security code is incomplete."];
  },
  country: () => null,
  postalCode() {
    if (postalCode.wrap.hidden) return null;
    const text = postalCode.input.value.trim();
    if (country.input.value === 'US') {
      if (text.length < 5) return ['incomplete_zip', 'Your ZIP code is incomplete.'];
      return /^\d{5}(?:-?\d{4})?$/.test(text) ? null : ['invalid_zip', 'Your ZIP code is invalid.'];
    }
    return text.length >= 3 ? null : ['incomplete_zip', 'Your postal code is incomplete.'];
  },
};

const wrong = () => (wallet ? [] : inputs.flatMap((input) => (problems[input.id]() ? [input] : [])));

function changed() {
  for (const input of inputs) show(input, touched.has(input.id) ? (problems[input.id]()?.[1] ?? '') : '');
  const payload = {
    empty: !wallet && inputs.every((input) => input === country.input || input.value === ''),
    complete: wrong().length === 0,
    collapsed: false,
    ...(compact
      ? { brand: isAmex() ? 'amex' : 'visa', error: undefined }
      : { value: { type: wallet ? 'google_pay' : 'card' } }),
  };
  const text = JSON.stringify(payload);
  if (text === last) return;
  last = text;
  emit('change', payload);
}

/** Groups digits, and keeps the caret between the same digits. */
function setGrouped(input, text) {
  const before = input.value.slice(0, input.selectionStart ?? input.value.length).replace(/\D/g, '').length;
  if (text === input.value) return;
  input.value = text;
  let seen = 0;
  let place = 0;
  while (place < text.length && seen < before) {
    if (/\d/.test(text[place])) seen += 1;
    place += 1;
  }
  input.setSelectionRange(place, place);
}

function writeExpiry(event) {
  let text = digits(expiry.input);
  if (/^[2-9]/.test(text)) text = `0${text}`;
  const deleting = event.inputType === 'deleteContentBackward';
  const whole = text.length > 2 || (text.length === 2 && !deleting);
  expiry.input.value = whole ? `${text.slice(0, 2)} / ${text.slice(2, 6)}` : text;
}

form.addEventListener('input', (event) => {
  if (event.target === number.input) {
    const text = digits(number.input).slice(0, 19);
    setGrouped(
      number.input,
      isAmex()
        ? text.replace(/^(\d{4})(\d{1,6})?(\d+)?$/, (_all, ...parts) => parts.slice(0, 3).filter(Boolean).join(' '))
        : text.replace(/(\d{4})(?=\d)/g, '$1 '),
    );
  }
  if (event.target === expiry.input) writeExpiry(event);
  if (event.target === cvc.input) cvc.input.value = digits(cvc.input).slice(0, isAmex() ? 4 : 3);
  if (event.target === country.input) updateCountryFields();
  changed();
});
form.addEventListener('focusout', ({ target }) => {
  if (target.value) touched.add(target.id);
  changed();
});
form.addEventListener('submit', (event) => event.preventDefault());

function updateCountryFields() {
  const code = country.input.value;
  const { billingDetails } = options.fields ?? {};
  const hidden = billingDetails === 'never' || billingDetails?.address === 'never';
  const never = (name) => hidden || billingDetails?.address?.[name] === 'never';
  country.wrap.hidden = compact || never('country');
  postalCode.wrap.hidden =
    (compact ? options.hidePostalCode === true : never('postalCode')) || !['US', 'GB', 'CA'].includes(code);
  postalCode.caption.textContent = code === 'US' ? 'ZIP code' : 'Postal code';
  postalCode.input.placeholder = code === 'US' ? '12345' : '';
}

const walletPart = document.createElement('div');
walletPart.className = 'wallet';
const walletButton = document.createElement('button');
walletButton.type = 'button';
walletButton.textContent = 'Pay with a wallet';
walletButton.setAttribute('aria-pressed', 'false');
const or = document.createElement('p');
or.className = 'or';
or.textContent = 'Or pay with a card';
walletPart.append(walletButton, or);
walletButton.addEventListener('click', () => useWallet(!wallet));

function useWallet(chosen) {
  wallet = chosen;
  walletButton.setAttribute('aria-pressed', String(wallet));
  or.textContent = wallet
    ? 'Payment with the wallet of this browser. Press again to use a card.'
    : 'Or pay with a card';
  card.hidden = wallet;
  changed();
}

const card = document.createElement('div');
card.className = 'card';
card.append(...[number, expiry, cvc, country, postalCode].map(({ wrap }) => wrap));

function set(changes) {
  options = { ...options, ...changes };
  const { applePay, googlePay } = options.wallets ?? {};
  walletPart.hidden = compact || (applePay === 'never' && googlePay === 'never');
  for (const input of inputs) input.disabled = options.readOnly === true || options.disabled === true;
  updateCountryFields();
}

function clear() {
  for (const input of inputs) if (input !== country.input) input.value = '';
  touched = new Set();
  useWallet(false);
}

const validationError = (input) => {
  const [code, message] = problems[input.id]();
  return { error: { type: 'validation_error', code, message } };
};

serve({
  start(given) {
    key = given.key;
    const address = given.options.defaultValues?.billingDetails?.address;
    country.input.value = address?.country ?? 'US';
    postalCode.input.value = address?.postal_code ?? '';
    form.append(walletPart, card);
    set(given.options);
  },
  update({ options: changes }) {
    if (changes) set(changes);
  },
  focus: () => inputs.find((input) => !input.value)?.focus() ?? number.input.focus(),
  blur: () => document.activeElement?.blur(),
  clear,
  collapse() {},
  validate() {
    touched = new Set(inputs.map((input) => input.id));
    changed();
    const [first] = wrong();
    if (!first) return { selectedPaymentMethod: wallet ? 'google_pay' : 'card' };
    first.focus();
    return validationError(first);
  },
  async createPaymentMethod({ billing_details: billing = {}, metadata }) {
    const [first] = wrong();
    if (first) return validationError(first);
    const { month, year } = wallet ? { month: 12, year: new Date().getFullYear() + 2 } : date();
    const own =
      compact && postalCode.wrap.hidden
        ? {}
        : { country: country.input.value, postal_code: postalCode.input.value || undefined };
    const { value, error } = await call(location.origin, key, 'POST', '/payment_methods', {
      type: 'card',
      card: {
        number: wallet ? '4242424242424242' : digits(number.input),
        exp_month: month,
        exp_year: year,
        cvc: wallet ? '314' : digits(cvc.input),
      },
      billing_details: { ...billing, address: { ...own, ...billing.address } },
      metadata,
      ...(wallet && { _wallet: 'google_pay' }),
    });
    return error ? { error } : { paymentMethod: value };
  },
});
