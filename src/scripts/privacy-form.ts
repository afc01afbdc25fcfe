/** The banner's answer, in place: what is chosen counts at once, and the server is asked to keep it. */

import { grantedByForm } from '../lib/consent/model.ts';
import { consentFields } from '../lib/consent/schema.ts';
import { $consent, chooseConsent, refreshConsent, tellConsent } from '../stores/consent.ts';

/** @param submitter the button that was pressed */
export function answer(form: HTMLFormElement, submitter: HTMLElement | null): void {
  const data = new FormData(form, submitter);
  const choice = data.get(consentFields.choice);
  const ticked = data.getAll(consentFields.purpose).map(String);
  const granted = grantedByForm(typeof choice === 'string' ? choice : null, ticked, $consent.get().gpc);
  if (granted === null) return;
  chooseConsent(granted);
  // The banner is gone with the choice, and the focus with it.
  document.getElementById('main')?.focus({ preventScroll: true });
  // A cookie that a script has set lives for a week in some browsers; one that the server sets lives as long as it says.
  const body = new URLSearchParams([...data].map(([name, value]): [string, string] => [name, String(value)]));
  fetch(form.action, { method: 'POST', body, redirect: 'manual', keepalive: true }).then(
    () => {
      // Some browsers say Global Privacy Control to the server alone, which then keeps less than was chosen here.
      refreshConsent();
      tellConsent();
    },
    () => {},
  );
}
