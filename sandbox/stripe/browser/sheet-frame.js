/** A wallet's payment sheet: the amount, the card, and the buttons Pay and Cancel. */
import { call } from './calls.js';
import { countries } from './countries.js';
import { emit, field, serve } from './frame.js';

const form = document.getElementById('form');
const titles = { apple_pay: 'Apple Pay', google_pay: 'Google Pay', link: 'Link' };
let key = '';
let options = {};

const card = field({
  id: 'card',
  label: 'Card',
  autocomplete: 'off',
  options: [
    ['4242424242424242', 'Visa •••• 4242'],
    ['4000002760003184', 'Visa •••• 3184, authentication required'],
    ['4000000000000002', 'Visa •••• 0002, declined'],
  ],
});
const name = field({ id: 'name', label: 'Name', autocomplete: 'off' });
const email = field({ id: 'email', label: 'Email', autocomplete: 'off' });
const country = field({ id: 'country', label: 'Country', autocomplete: 'off', options: countries() });
const postalCode = field({ id: 'postalCode', label: 'Postal code', autocomplete: 'off' });
const errorText = document.createElement('p');
errorText.className = 'error';
errorText.setAttribute('role', 'alert');
const pay = document.createElement('button');
const cancel = document.createElement('button');

const money = (amount) => {
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: options.currency ?? 'usd' });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
};

function line(text, amount, className = '') {
  const item = document.createElement('p');
  item.className = `line ${className}`;
  const [left, right] = [document.createElement('span'), document.createElement('span')];
  left.textContent = text;
  right.textContent = amount === undefined ? '' : money(amount);
  item.append(left, ' ', right);
  return item;
}

function billing() {
  const details = {};
  if (options.billingAddressRequired) {
    details.name = name.input.value;
    details.address = {
      line1: '222 William Street',
      line2: null,
      city: 'New York',
      state: 'NY',
      postal_code: postalCode.input.value,
      country: country.input.value,
    };
  }
  if (options.emailRequired) details.email = email.input.value;
  return details;
}

function setBusy(busy, text) {
  pay.disabled = busy;
  cancel.disabled = busy;
  pay.textContent = text;
}

serve({
  start(given) {
    key = given.key;
    options = given.options;
    form.className = 'sheet';
    form.addEventListener('submit', (event) => event.preventDefault());
    const title = document.createElement('h1');
    title.textContent = `${titles[options.wallet]} (sandbox)`;
    name.input.value = 'Benjamin Day';
    email.input.value = 'day@example.com';
    country.input.value = 'US';
    postalCode.input.value = '10038';
    for (const { wrap } of [name, country, postalCode]) wrap.hidden = !options.billingAddressRequired;
    email.wrap.hidden = !options.emailRequired;
    const total = options.mode === 'setup' ? line('For later payments') : line('Total', options.amount, 'total');
    pay.type = cancel.type = 'button';
    cancel.className = 'plain';
    cancel.textContent = 'Cancel';
    setBusy(false, 'Pay');
    pay.addEventListener('click', () => {
      errorText.textContent = '';
      setBusy(true, 'Processing…');
      emit('confirm', { billingDetails: billing() });
    });
    cancel.addEventListener('click', () => emit('cancel'));
    const lines = options.lineItems.map((item) => line(item.name, item.amount));
    form.append(title, ...lines, total, ...[card, name, email, country, postalCode].map(({ wrap }) => wrap));
    form.append(errorText, pay, cancel);
    requestAnimationFrame(() => pay.focus());
  },
  update() {},
  /** After a failed payment a wallet offers only its close button. */
  fail({ message }) {
    errorText.textContent = message ?? 'Your payment could not be completed.';
    setBusy(false, 'Pay');
    pay.hidden = true;
    cancel.textContent = 'Close';
    cancel.focus();
  },
  async createPaymentMethod({ billing_details: given = {}, metadata }) {
    const own = billing();
    const { value, error } = await call(location.origin, key, 'POST', '/payment_methods', {
      type: 'card',
      card: { number: card.input.value, exp_month: 12, exp_year: new Date().getFullYear() + 2, cvc: '314' },
      billing_details: { ...own, ...given, address: { ...own.address, ...given.address } },
      metadata,
      _wallet: options.wallet,
    });
    return error ? { error } : { paymentMethod: value };
  },
});
