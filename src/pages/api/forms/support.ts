/** POST /api/forms/support (spec section 7): name, email, phone and message, as JSON or as a form. */
import { fieldFormRoute } from '../../../lib/http/field-form.server.ts';
import { allowOnly } from '../../../lib/http/routes.server.ts';
import { supportForm } from '../../../lib/support/service.server.ts';

export const POST = fieldFormRoute(supportForm);
export const ALL = allowOnly('POST');
