/** A group of elements that belong to one payment: `stripe.elements(…)`. */
import { IntegrationError } from './calls.js';
import { checkCall, checkOptions } from './checks.js';
import { elementTypes, makeElement } from './element.js';
import { makeExpress } from './express.js';

const modes = ['payment', 'setup', 'subscription'];

function check(options) {
  if (options.clientSecret !== undefined && options.mode !== undefined) {
    throw new IntegrationError('elements(): pass either clientSecret or mode, not both.');
  }
  if (options.mode === undefined) return;
  if (!modes.includes(options.mode)) {
    throw new IntegrationError(`Invalid value for elements(): mode should be one of ${modes.join(', ')}.`);
  }
  if (!/^[a-z]{3}$/.test(options.currency ?? '') && options.mode !== 'setup') {
    throw new IntegrationError('Invalid value for elements(): currency should be a lowercase currency code.');
  }
  const { amount } = options;
  if (options.mode !== 'setup' && !(Number.isInteger(amount) && amount >= (options.mode === 'payment' ? 1 : 0))) {
    throw new IntegrationError(
      `Invalid value for elements(): amount should be ${options.mode === 'payment' ? 'a positive' : 'a non-negative'} integer. You specified: ${amount}.`,
    );
  }
}

export function makeElements(given, { origin, key, locale }) {
  checkCall('elements', [given]);
  const options = { locale, ...given };
  check(options);
  const elements = new Map();
  let submitted = false;
  let express = null;

  const typeOf = (what) => (typeof what === 'string' ? what : what?.__elementType);

  const group = {
    create(type, own = {}) {
      if (!elementTypes.includes(type)) {
        throw new IntegrationError(
          `A valid Element name must be provided. Valid Elements are: ${elementTypes.join(', ')}; you passed: ${type}.`,
        );
      }
      if (elements.has(type)) {
        throw new IntegrationError(`Can only create one Element of type ${type} through elements().`);
      }
      checkOptions(type, 'create', own);
      if (type === 'address' && !['shipping', 'billing'].includes(own.mode)) {
        throw new IntegrationError('Invalid value for elements.create("address"): mode should be shipping or billing.');
      }
      if (type === 'expressCheckout') express = makeExpress(own, { origin, key, group: () => options });
      const element = makeElement(type, own, {
        origin,
        key,
        group: () => ({
          appearance: options.appearance,
          mode: options.mode,
          locale: options.locale,
          allowedPaymentMethodTypes: options.allowedPaymentMethodTypes,
        }),
        onDestroy() {
          elements.delete(type);
          if (type === 'expressCheckout') express.close();
        },
        onPress: (wallet, dispatch) => express.press(wallet, dispatch),
      });
      if (type !== 'expressCheckout') {
        element.on('change', () => {
          submitted = false;
        });
      }
      elements.set(type, element);
      return element;
    },
    getElement: (what) => elements.get(typeOf(what)) ?? null,
    update(changes) {
      checkCall('elements.update', [changes]);
      const next = { ...options, ...changes };
      check(next);
      Object.assign(options, changes);
      for (const element of elements.values()) element._groupChanged();
    },
    fetchUpdates: async () => ({}),
    /** Validates every field and shows the errors. */
    async submit(...given) {
      if (given.length > 0) throw new IntegrationError('elements.submit() takes no arguments.');
      const wallet = express?.wallet();
      if (wallet) {
        submitted = true;
        return { selectedPaymentMethod: wallet };
      }
      const fields = [...elements.values()].filter((one) => one._isMounted() && one._type !== 'expressCheckout');
      const answers = await Promise.all(fields.map((one) => one._ask('validate')));
      const wrong = answers.find((answer) => answer?.error);
      if (wrong) return { error: wrong.error };
      submitted = true;
      const chosen = answers.find((answer) => answer?.selectedPaymentMethod);
      return { selectedPaymentMethod: chosen?.selectedPaymentMethod ?? 'card' };
    },
    // For this stand-in only.
    _options: options,
    _wasSubmitted: () => submitted,
    _payment: () => (express?.wallet() ? express : (elements.get('payment') ?? elements.get('card') ?? null)),
    /** Whether the wallets' buttons are the only way to pay. */
    _isExpressOnly: () => express !== null && !elements.has('payment') && !elements.has('card'),
    /** Billing details from the other elements. */
    async _billing() {
      const address = elements.get('address');
      const value = address?._isMounted() ? await address._ask('value') : null;
      const email = elements.get('linkAuthentication');
      const mail = email?._isMounted() ? await email._ask('value') : null;
      return {
        ...(value?.elementMode === 'billing' && {
          name: value.value.name,
          address: value.value.address,
          phone: value.value.phone,
        }),
        ...(mail?.value?.email && { email: mail.value.email }),
      };
    },
  };
  return group;
}
