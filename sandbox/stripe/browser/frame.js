/** Code of an element's frame: its messages with the page, its appearance and its fields. */

let port;
let handlers = {};

export const send = (message) => port?.postMessage(message);
export const emit = (event, payload = {}) => send({ event, payload });

/**
 * Waits for the page and then serves it.
 *
 * @param given handlers of the page's requests, by name; `start` is called first and returns what the page gets with the `ready` event,
 *   `update` is called with each change of options
 */
export function serve(given) {
  handlers = given;
  addEventListener('message', ({ data, ports: [channel], source }) => {
    if (source !== parent || !data?.stripeElement || !channel || port) return;
    port = channel;
    port.onmessage = async ({ data: { call, method, argument } }) => {
      if (method === 'update' && argument.group) applyAppearance(argument.group.appearance);
      const value = await handlers[method]?.(argument);
      if (call) send({ reply: call, value });
    };
    applyAppearance(data.group.appearance);
    new ResizeObserver(measure).observe(document.body);
    void Promise.resolve(handlers.start(data)).then((payload) => {
      measure();
      requestAnimationFrame(() => emit('ready', payload));
    });
  });
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') emit('escape');
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) {
      event.preventDefault();
      emit('enter');
    }
  });
  let within = false;
  addEventListener('focusin', () => {
    if (!within) emit('focus');
    within = true;
  });
  addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget) return;
    within = false;
    emit('blur');
  });
}

const measure = () => send({ height: Math.ceil(document.body.getBoundingClientRect().height) });

const names = {
  colorPrimary: '--primary',
  colorBackground: '--background',
  colorText: '--text',
  colorTextSecondary: '--soft',
  colorDanger: '--danger',
  fontFamily: '--font',
  fontSizeBase: '--size',
  borderRadius: '--radius',
  spacingUnit: '--unit',
};

/** Applies the Appearance API's theme, labels and the variables that this stand-in supports. */
function applyAppearance(appearance = {}) {
  const root = document.documentElement;
  root.dataset.theme = appearance.theme ?? 'stripe';
  root.dataset.labels = appearance.labels ?? 'above';
  for (const [name, property] of Object.entries(names)) {
    const value = appearance.variables?.[name];
    if (typeof value === 'string') root.style.setProperty(property, value);
  }
}

/** Shows or clears a field's error. */
export function show(input, message) {
  const error = document.getElementById(`${input.id}-error`);
  if (!error) return;
  if (error.textContent !== message) error.textContent = message;
  input.setAttribute('aria-invalid', String(message !== ''));
}

/** A labeled field with its error message. */
export function field({ id, label, autocomplete, inputmode, options, placeholder, maxlength }) {
  const wrap = document.createElement('p');
  wrap.className = `field ${id}`;
  const caption = document.createElement('label');
  caption.htmlFor = id;
  caption.textContent = label;
  const input = document.createElement(options ? 'select' : 'input');
  input.id = id;
  input.name = id;
  input.setAttribute('autocomplete', autocomplete);
  input.setAttribute('aria-describedby', `${id}-error`);
  if (options) for (const [value, text] of options) input.append(new Option(text, value));
  else {
    input.type = inputmode === 'tel' ? 'tel' : 'text';
    input.spellcheck = false;
    if (inputmode) input.inputMode = inputmode === 'tel' ? 'tel' : inputmode;
    if (placeholder) input.placeholder = placeholder;
    if (maxlength) input.maxLength = maxlength;
  }
  const error = document.createElement('span');
  error.id = `${id}-error`;
  error.className = 'error';
  error.setAttribute('role', 'alert');
  wrap.append(caption, input, error);
  return { wrap, input, caption };
}
