/** The reader's email address. */
import { emit, field, serve, show } from './frame.js';

const form = document.getElementById('form');
const email = field({ id: 'email', label: 'Email', autocomplete: 'email', placeholder: 'you@example.com' });
email.input.inputMode = 'email';
form.append(email.wrap);

const value = () => email.input.value.trim();
const complete = () => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value());
const changed = () => emit('change', { empty: value() === '', complete: complete(), value: { email: value() } });

email.input.addEventListener('input', changed);
form.addEventListener('submit', (event) => event.preventDefault());

serve({
  start({ options }) {
    email.input.value = options.defaultValues?.email ?? '';
    if (value()) setTimeout(changed);
  },
  update() {},
  focus: () => email.input.focus(),
  blur: () => email.input.blur(),
  clear() {
    email.input.value = '';
    changed();
  },
  value: () => ({ complete: complete(), value: { email: value() } }),
  validate() {
    show(email.input, complete() ? '' : 'Your email is incomplete.');
    return complete()
      ? {}
      : { error: { type: 'validation_error', code: 'email_incomplete', message: 'Your email is incomplete.' } };
  },
});
