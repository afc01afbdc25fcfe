/**
 * Loads a page of the reader's account again when its reader has signed out in another tab, so that the next user of the browser doesn't
 * read it there. Only such pages have this script.
 */
import { checkoutNames } from '../lib/article/forget-reader.ts';
import { writeStored } from '../lib/browser-storage.ts';
import { signedOutElsewhere } from '../stores/session.ts';

addEventListener(signedOutElsewhere, () => {
  for (const name of checkoutNames) writeStored(name, null, 'sessionStorage');
  // With GET: the page may be the answer to a form.
  location.replace(location.pathname + location.search);
});
