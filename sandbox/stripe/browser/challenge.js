/** The bank's challenge: a dialog over the page with a frame in it. */

/** Shows the challenge until it is answered. */
export function showChallenge(origin, address) {
  const { promise, resolve } = Promise.withResolvers();
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', 'Authentication by your bank');
  Object.assign(dialog.style, {
    border: '0',
    borderRadius: '8px',
    padding: '0',
    width: 'min(400px, 94vw)',
    height: 'min(480px, 90vh)',
    overflow: 'hidden',
  });
  const frame = document.createElement('iframe');
  frame.title = 'Secure payment authentication frame';
  frame.name = 'stripe-challenge-frame';
  Object.assign(frame.style, { border: '0', display: 'block', width: '100%', height: '100%' });
  frame.src = new URL(address, origin).href;
  dialog.append(frame);
  // Only the buttons answer the bank.
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  const before = document.activeElement;
  const onMessage = ({ origin: from, source, data }) => {
    if (from !== origin || source !== frame.contentWindow || data?.stripeChallenge !== 'answered') return;
    removeEventListener('message', onMessage);
    dialog.close();
    dialog.remove();
    if (before instanceof HTMLElement) before.focus();
    resolve();
  };
  addEventListener('message', onMessage);
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}
