/** One element: a frame from this script's own origin, and the page's side of the messages with it. */
import { IntegrationError } from './calls.js';
import { checkEvent, checkOptions } from './checks.js';

const titles = {
  payment: 'Secure payment input frame',
  card: 'Secure card payment input frame',
  address: 'Secure address input frame',
  linkAuthentication: 'Secure email input frame',
  expressCheckout: 'Secure express checkout frame',
  // Not an element of a page: the sheet that the wallet shows over the page.
  walletSheet: 'Wallet',
};
export const elementTypes = Object.keys(titles).filter((type) => type !== 'walletSheet');

/** Milliseconds within which a frame has to send a message; a WordPress in the same process may delay it. */
const frameTimeoutMs = 60_000;
let frames = 0;

/** @param onPress called when a wallet's button is pressed, if there are any */
export function makeElement(type, options, { origin, key, group, onDestroy, onPress }) {
  const listeners = new Map();
  const answers = new Map();
  let current = { ...options };
  let frame = null;
  let port = null;
  let calls = 0;
  let timer = 0;
  let destroyed = false;
  let whenReady = Promise.withResolvers();

  const dispatch = (event, payload) => {
    for (const { listener, once } of [...(listeners.get(event) ?? [])]) {
      if (once) element.off(event, listener);
      listener(payload);
    }
  };

  function onMessage({ data }) {
    if (data.height !== undefined && frame) frame.style.height = `${data.height}px`;
    if (data.reply !== undefined) {
      answers.get(data.reply)?.(data.value);
      answers.delete(data.reply);
    }
    if (data.event === 'enter') frame?.closest('form')?.requestSubmit();
    else if (data.event === 'press') onPress?.(data.payload.wallet, dispatch);
    else if (data.event) {
      if (data.event === 'ready') {
        clearTimeout(timer);
        whenReady.resolve();
      }
      const isBare = data.event === 'ready' && type !== 'expressCheckout';
      dispatch(data.event, isBare ? undefined : { elementType: type, ...data.payload });
    }
  }

  function connect() {
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = onMessage;
    const start = { stripeElement: type, key, options: current, group: group(), domain: location.hostname };
    frame.contentWindow.postMessage(start, origin, [channel.port2]);
  }

  function mount(where) {
    if (destroyed) throw new IntegrationError('This Element has already been destroyed. Please create a new one.');
    const place = typeof where === 'string' ? document.querySelector(where) : where;
    if (!(place instanceof Element)) {
      throw new IntegrationError(
        'Invalid value for mount(): expected a valid DOM element or CSS selector. Make sure the DOM element exists before calling mount.',
      );
    }
    if (frame?.parentElement?.parentElement === place) return;
    unmount();
    frames += 1;
    frame = document.createElement('iframe');
    frame.name = `__privateStripeFrame${frames}`;
    frame.title = titles[type];
    frame.setAttribute('allow', 'payment *; clipboard-write');
    frame.setAttribute('frameborder', '0');
    frame.setAttribute('scrolling', 'no');
    Object.assign(frame.style, { border: '0', display: 'block', width: '100%', height: '1px', overflow: 'hidden' });
    frame.addEventListener('load', connect, { once: true });
    timer = setTimeout(() => {
      const error = { type: 'api_connection_error', message: 'The frame could not be loaded.' };
      dispatch('loaderror', { elementType: type, error });
    }, frameTimeoutMs);
    frame.src = `${origin}/elements/${type}`;
    const container = document.createElement('div');
    container.className = '__PrivateStripeElement';
    container.append(frame);
    place.replaceChildren(container);
    place.classList.add('StripeElement');
    dispatch('loaderstart', { elementType: type });
  }

  function unmount() {
    clearTimeout(timer);
    port?.close();
    port = null;
    const place = frame?.parentElement?.parentElement;
    frame?.parentElement?.remove();
    place?.classList.remove('StripeElement');
    frame = null;
    for (const answer of answers.values()) answer(undefined);
    answers.clear();
    whenReady = Promise.withResolvers();
  }

  /** Sends a request to the frame; `undefined` if the frame is removed before it answers. */
  async function ask(method, argument) {
    if (!frame) {
      throw new IntegrationError(
        `We could not retrieve data from the specified Element. Please make sure the Element you are attempting to use is still mounted.`,
      );
    }
    await whenReady.promise;
    calls += 1;
    const id = calls;
    const answer = Promise.withResolvers();
    answers.set(id, answer.resolve);
    port?.postMessage({ call: id, method, argument });
    return answer.promise;
  }

  const send = (method, argument) =>
    void whenReady.promise.then(() => port?.postMessage({ call: 0, method, argument }));

  const element = {
    mount,
    unmount,
    on(event, listener) {
      checkEvent(type, event);
      if (typeof listener !== 'function') throw new IntegrationError('The listener of an event has to be a function.');
      listeners.set(event, [...(listeners.get(event) ?? []), { listener }]);
      return element;
    },
    once(event, listener) {
      checkEvent(type, event);
      listeners.set(event, [...(listeners.get(event) ?? []), { listener, once: true }]);
      return element;
    },
    off(event, listener) {
      const left = (listeners.get(event) ?? []).filter((one) => listener !== undefined && one.listener !== listener);
      listeners.set(event, left);
      return element;
    },
    update(changes) {
      checkOptions(type, 'update', changes);
      current = { ...current, ...changes };
      send('update', { options: current });
      return element;
    },
    focus: () => {
      frame?.focus();
      send('focus');
    },
    blur: () => send('blur'),
    clear: () => send('clear'),
    collapse: () => send('collapse'),
    destroy() {
      if (destroyed) throw new IntegrationError('This Element has already been destroyed.');
      unmount();
      destroyed = true;
      onDestroy();
    },
    ...(type === 'address' && { getValue: () => ask('value') }),
    // For this stand-in only; the real elements have private members, too.
    _type: type,
    _ask: ask,
    _isMounted: () => frame !== null,
    _groupChanged: () => send('update', { group: group() }),
  };
  return element;
}
