/**
 * Wallets' buttons from the tap to the payment: the page answers the click, the wallet's sheet opens, and after the reader agrees
 * the page pays within the confirm event (docs.stripe.com/elements/express-checkout-element/accept-a-payment).
 */
import { IntegrationError } from './calls.js';
import { checkCall, checkLineItems } from './checks.js';
import { makeElement } from './element.js';

/** Milliseconds within which a page has to answer a click. */
const clickTimeoutMs = 1000;

/** @param own options of the element. @param group current options of its group */
export function makeExpress(own, { origin, key, group }) {
  let sheet = null;
  /** Whether the reader has agreed, and the page has neither paid nor reported a failure yet. */
  let confirming = false;

  function close() {
    confirming = false;
    sheet?.remove();
    sheet = null;
  }

  function open(wallet, details, dispatch) {
    const { amount, currency, mode } = group();
    const dialog = document.createElement('dialog');
    dialog.setAttribute('aria-label', 'Wallet');
    Object.assign(dialog.style, { border: '0', borderRadius: '12px', padding: '16px', width: 'min(380px, 94vw)' });
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    const before = document.activeElement;
    const start = { ...own, wallet, amount, currency, mode, lineItems: details?.lineItems ?? own.lineItems ?? [] };
    const frame = makeElement('walletSheet', start, { origin, key, group: () => ({}), onDestroy() {} });
    frame.on('cancel', () => {
      close();
      dispatch('cancel', { elementType: 'expressCheckout' });
    });
    frame.on('confirm', ({ billingDetails }) => {
      confirming = true;
      dispatch('confirm', {
        elementType: 'expressCheckout',
        expressPaymentType: wallet,
        billingDetails,
        paymentFailed(...given) {
          checkCall('expressCheckout.confirm.paymentFailed', given);
          confirming = false;
          if (sheet) void frame._ask('fail', given[0] ?? {});
        },
      });
    });
    document.body.append(dialog);
    frame.mount(dialog);
    dialog.showModal();
    sheet = {
      wallet,
      frame,
      remove() {
        frame.destroy();
        dialog.close();
        dialog.remove();
        if (before instanceof HTMLElement) before.focus();
      },
    };
  }

  function press(wallet, dispatch) {
    if (sheet) return;
    let isAnswered = false;
    const timer = setTimeout(() => {
      isAnswered = true;
      throw new IntegrationError('The click event was answered by neither resolve nor reject within 1 second.');
    }, clickTimeoutMs);
    const answer = (name, then) =>
      function answerOnce(...given) {
        checkCall(`expressCheckout.click.${name}`, given);
        if (isAnswered) return;
        if (name === 'resolve') checkLineItems(given[0]?.lineItems, group().amount);
        isAnswered = true;
        clearTimeout(timer);
        then(given[0]);
      };
    dispatch('click', {
      elementType: 'expressCheckout',
      expressPaymentType: wallet,
      resolve: answer('resolve', (details) => open(wallet, details, dispatch)),
      reject: answer('reject', () => {}),
    });
  }

  return {
    press,
    close,
    /** The wallet with which the reader is paying. */
    wallet: () => (confirming ? sheet?.wallet : undefined),
    /** A payment method from the wallet; closes the sheet. */
    async _ask(method, argument) {
      const answer = await sheet.frame._ask(method, argument);
      if (answer?.paymentMethod) close();
      return answer;
    },
  };
}
