/** Redirects to one of the reader's invoices at Stripe, as PDF or as the page to pay it. Its URL there is secret and expires. */
import type { APIRoute } from 'astro';
import { signInPage } from '../../lib/accounts/routes.server.ts';
import { messages } from '../../lib/billing/messages.ts';
import { seeOther, textResponse } from '../../lib/http/form.server.ts';

export const GET: APIRoute = async ({ request, locals, url }) => {
  const { accounts, billing, log } = locals.services;
  if (!accounts || !billing) return textResponse(404, messages.unknownInvoice);
  try {
    const { session } = await accounts.session(request.headers.get('cookie'));
    if (!session) return seeOther({ to: signInPage(null, '/dashboard/account') });
    const as = url.searchParams.get('as') === 'page' ? 'page' : 'pdf';
    const found = await billing.invoiceUrl(session, url.searchParams.get('id') ?? '', as);
    return found.ok ? seeOther({ to: found.value }) : textResponse(found.status, found.error.message);
  } catch (error) {
    log.error({ err: error }, 'An invoice could not be found');
    return textResponse(503, messages.invoiceUnavailable);
  }
};
