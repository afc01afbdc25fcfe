/**
 * A stand-in for Stripe.js: `window.Stripe`, as far as the newspaper and `@stripe/react-stripe-js` use it. Cards are typed
 * into frames of this script's own origin and never reach the page.
 */
import { call, IntegrationError, intentOf } from './calls.js';
import { showChallenge } from './challenge.js';
import { checkCall, checkIntent } from './checks.js';
import { makeElements } from './elements.js';

const origin = new URL(document.currentScript.src).origin;

function Stripe(key, options = {}) {
  if (typeof key !== 'string' || key === '') {
    throw new IntegrationError('Missing value for Stripe(): apiKey should be a string.');
  }
  if (!key.startsWith('pk_')) {
    throw new IntegrationError(
      'You should not use your secret key with Stripe.js. Please pass a publishable key instead.',
    );
  }
  const api = (method, path, params) => call(origin, key, method, path, params);
  const retrieveIntent = (intent) => api('GET', intent.path, { client_secret: intent.clientSecret });

  /** The page's result for an intent that needs no further action. */
  function resultOf(intent, value) {
    const problem = value[intent.problem];
    if (value.status === 'requires_payment_method' && problem) {
      const snake = intent.setup ? 'setup_intent' : 'payment_intent';
      return { error: { ...problem, [snake]: value } };
    }
    return { [intent.name]: value };
  }

  /** Shows the bank's challenge, if there is one. */
  async function completeAction(intent, value) {
    if (value.status !== 'requires_action') return resultOf(intent, value);
    const { use_stripe_sdk: sdk, redirect_to_url: redirect } = value.next_action ?? {};
    await showChallenge(origin, sdk?.stripe_js ?? redirect?.url);
    const after = await retrieveIntent(intent);
    return after.error ? { error: after.error } : resultOf(intent, after.value);
  }

  /** Creates a payment method from the card in the frame. */
  async function makeMethod(element, billing = {}, more = {}) {
    const answer = await element._ask('createPaymentMethod', { billing_details: billing, ...more });
    if (!answer) return { error: { type: 'api_error', message: 'The card element was unmounted before it answered.' } };
    return answer;
  }

  async function fromElements(elements, params = {}) {
    const payment = elements._payment();
    if (!payment && elements._isExpressOnly()) {
      throw new IntegrationError(
        'Element confirming payment is "expressCheckout", but it was not called within the "confirm" event.',
      );
    }
    if (!payment) {
      throw new IntegrationError('Could not find an Element of type payment in this Elements instance.');
    }
    if (!elements._wasSubmitted()) {
      throw new IntegrationError('elements.submit() must be called before the payment details are used, and awaited.');
    }
    const billing = { ...(await elements._billing()), ...params.billing_details };
    const { billing_details: _taken, ...more } = params;
    return makeMethod(payment, billing, more);
  }

  /** `payment_method` of the older confirm calls: an id, or the fields of a card element. */
  async function methodOf(data) {
    const given = data?.payment_method;
    if (given === undefined) return {};
    if (typeof given === 'string') return { payment_method: given };
    const made = await makeMethod(given.card, given.billing_details);
    return made.error ? made : { payment_method: made.paymentMethod.id };
  }

  async function confirm(intent, params) {
    const answer = await api('POST', `${intent.path}/confirm`, {
      client_secret: intent.clientSecret,
      use_stripe_sdk: true,
      ...params,
    });
    return answer.error ? { error: answer.error } : answer;
  }

  async function confirmCard(name, kind, given) {
    checkCall(name, given);
    const [clientSecret, data, { handleActions = true } = {}] = given;
    const intent = intentOf(name, clientSecret, [kind]);
    const method = await methodOf(data);
    if (method.error) return { error: method.error };
    const now = await retrieveIntent(intent);
    if (now.error) return { error: now.error };
    // The server has confirmed the intent already; only the bank's challenge remains.
    const needsAction = now.value.status === 'requires_action' && !method.payment_method;
    const done = needsAction
      ? now
      : await confirm(intent, { ...method, ...(data?.return_url && { return_url: data.return_url }) });
    if (done.error) return { error: done.error };
    return handleActions ? completeAction(intent, done.value) : resultOf(intent, done.value);
  }

  async function confirmElements(name, kind, given) {
    checkCall(name, [given]);
    const { elements, clientSecret, confirmParams = {}, redirect = 'always' } = given;
    const secret = clientSecret ?? elements?._options.clientSecret;
    const intent = intentOf(name, secret, [kind]);
    if (redirect === 'always' && !confirmParams.return_url) {
      throw new IntegrationError(`${name}(): confirmParams.return_url is required when redirect is always.`);
    }
    if (elements?._options.mode) {
      const current = await retrieveIntent(intent);
      if (current.error) return { error: current.error };
      checkIntent(elements._options, current.value, intent.setup);
    }
    let method = confirmParams.payment_method;
    if (!method) {
      if (elements._options.clientSecret && !elements._wasSubmitted()) {
        const checked = await elements.submit();
        if (checked.error) return { error: checked.error };
      }
      const made = await fromElements(elements, confirmParams.payment_method_data);
      if (made.error) return { error: made.error };
      method = made.paymentMethod.id;
    }
    const done = await confirm(intent, {
      payment_method: method,
      ...(confirmParams.return_url && { return_url: confirmParams.return_url }),
    });
    const result = done.error ? { error: done.error } : await completeAction(intent, done.value);
    if (result.error || redirect !== 'always') return result;
    const returnUrl = new URL(confirmParams.return_url);
    const snake = intent.setup ? 'setup_intent' : 'payment_intent';
    returnUrl.searchParams.set(snake, intent.id);
    returnUrl.searchParams.set(`${snake}_client_secret`, secret);
    returnUrl.searchParams.set('redirect_status', 'succeeded');
    location.assign(returnUrl);
    return new Promise(() => {});
  }

  async function retrieve(name, kind, given) {
    checkCall(name, given);
    const intent = intentOf(name, given[0], [kind]);
    const answer = await retrieveIntent(intent);
    return answer.error ? { error: answer.error } : { [intent.name]: answer.value };
  }

  return {
    elements: (given = {}) => makeElements(given, { origin, key, locale: options.locale }),
    async createPaymentMethod(given) {
      checkCall('createPaymentMethod', [given]);
      if (given.elements) {
        if (given.elements._options.mode && given.elements._options.paymentMethodCreation !== 'manual') {
          throw new IntegrationError(
            'To create a PaymentMethod from Elements, the Elements instance must be created with paymentMethodCreation: "manual".',
          );
        }
        return fromElements(given.elements, given.params);
      }
      if (given.type !== 'card' || !given.card?._ask) {
        throw new IntegrationError('createPaymentMethod(): pass elements, or type "card" with a card Element.');
      }
      return makeMethod(given.card, given.billing_details, { metadata: given.metadata });
    },
    confirmPayment: (given) => confirmElements('confirmPayment', 'pi', given),
    confirmSetup: (given) => confirmElements('confirmSetup', 'seti', given),
    confirmCardPayment: (...given) => confirmCard('confirmCardPayment', 'pi', given),
    confirmCardSetup: (...given) => confirmCard('confirmCardSetup', 'seti', given),
    async handleNextAction(given) {
      checkCall('handleNextAction', [given]);
      const { clientSecret } = given;
      const intent = intentOf('handleNextAction', clientSecret, ['pi', 'seti']);
      const now = await retrieveIntent(intent);
      if (now.error) return { error: now.error };
      // Declarations: "It will throw an error if the PaymentIntent or SetupIntent has a different status."
      if (now.value.status !== 'requires_action') {
        const name = intent.setup ? 'SetupIntent' : 'PaymentIntent';
        throw new IntegrationError(`handleNextAction: The ${name} supplied is not in the requires_action state.`);
      }
      return completeAction(intent, now.value);
    },
    retrievePaymentIntent: (...given) => retrieve('retrievePaymentIntent', 'pi', given),
    retrieveSetupIntent: (...given) => retrieve('retrieveSetupIntent', 'seti', given),
    createToken: async () => ({
      error: { type: 'invalid_request_error', message: 'The sandbox makes payment methods, not tokens.' },
    }),
    registerAppInfo() {},
    _registerWrapper() {},
    _apiKey: key,
  };
}

Stripe.version = 'endive';
window.Stripe = Stripe;
