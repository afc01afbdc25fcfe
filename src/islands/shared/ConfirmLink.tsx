/** Beneath a refusal: where to have the mail sent again that confirms the reader's address. */
import { confirmPage } from '../../lib/accounts/forms.ts';

export const ConfirmLink = () => (
  <p>
    <a href={confirmPage(location.pathname)}>Send the confirmation email again</a>
  </p>
);
