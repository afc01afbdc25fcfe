/**
 * Links to sign in open the popup instead, where the page has one. A link may name its options:
 * `data-sign-in-heading`, and `data-sign-in-note` for "Have an account? …" (spec section 2, "Auth popup").
 */
import { readPending } from '../lib/accounts/pending.ts';
import { openAuthPopup } from '../stores/ui.ts';

// A page that was loaded again while its reader looked for the code.
if (readPending('popup') && document.querySelector('[data-popups]')) openAuthPopup();

document.addEventListener('click', (event) => {
  // A click for a new tab, and one that something else has answered, are left alone.
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    return;
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="/socialLogin"]');
  if (!link || !document.querySelector('[data-popups]')) return;
  event.preventDefault();
  const { signInHeading, signInNote } = link.dataset;
  openAuthPopup({ heading: signInHeading, showSigninDialog: signInNote !== undefined });
});
