/** The wallets' buttons that this domain and this browser support. */
import { emit, serve } from './frame.js';

const form = document.getElementById('form');
const names = { apple_pay: 'Apple\u00a0Pay', google_pay: 'Google\u00a0Pay', link: 'Link' };
/** Names of the options, by the events' names. */
const fields = { apple_pay: 'applePay', google_pay: 'googlePay', link: 'link' };
let options = {};
let available = {};

function draw() {
  const { buttonHeight = 44, buttonTheme = {}, layout = {} } = options;
  const wanted = (options.paymentMethodOrder ?? []).concat(Object.keys(names));
  const shown = [...new Set(wanted)].filter((wallet) => available[fields[wallet]]);
  form.className = 'express';
  form.style.setProperty('--columns', String(Math.min(layout.maxColumns || shown.length, shown.length) || 1));
  form.replaceChildren(
    ...shown.map((wallet) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = wallet;
      button.dataset.theme = buttonTheme[fields[wallet]] ?? 'black';
      button.style.height = `${buttonHeight}px`;
      button.setAttribute('aria-label', names[wallet].replace('\u00a0', ' '));
      button.textContent = names[wallet];
      button.addEventListener('click', () => emit('press', { wallet }));
      return button;
    }),
  );
}

/** Stripe draws no button on a domain that the account has not registered. */
async function ask({ domain, group }) {
  const params = new URLSearchParams({ domain, types: (group.allowedPaymentMethodTypes ?? []).join(',') });
  const answer = await fetch(`${location.origin}/elements/wallets?${params}`);
  const all = await answer.json();
  const never = (field) => options.paymentMethods?.[field] === 'never' || options.wallets?.[field] === 'never';
  available = Object.fromEntries(Object.entries(all).map(([field, is]) => [field, is && !never(field)]));
}

serve({
  async start(given) {
    options = given.options;
    form.addEventListener('submit', (event) => event.preventDefault());
    await ask(given);
    draw();
    return { availablePaymentMethods: Object.values(available).includes(true) ? available : undefined };
  },
  update({ options: changes }) {
    if (!changes) return;
    options = { ...options, ...changes };
    draw();
  },
  focus: () => form.querySelector('button')?.focus(),
  blur: () => document.activeElement?.blur(),
});
