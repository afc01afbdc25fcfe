/** Redirects to one of the reader's invoices at Stripe, as PDF or as the page to pay it. Its URL there is secret and expires. */
import type { APIRoute } from 'astro';
import { signInPage } from '../../lib/accounts/routes.server.ts';
import { messages } from '../../lib/billing/messages.ts';

const headers = { 'Cache-Control': 'private, no-store', 'Content-Type': 'text/plain; charset=utf-8' };
const say = (status: number, sentence: string) => new Response(`${sentence}\n`, { status, headers });
const lead = (to: string) => new Response(null, { status: 303, headers: { ...headers, Location: to } });

export const GET: APIRoute = async ({ request, locals, url }) => {
  const { accounts, billing, log } = locals.services;
  if (!accounts || !billing) return say(404, messages.unknownInvoice);
  try {
    const { session } = await accounts.session(request.headers.get('cookie'));
    if (!session) return lead(signInPage(null, '/dashboard/account'));
    const as = url.searchParams.get('as') === 'page' ? 'page' : 'pdf';
    const found = await billing.billAddress(session, url.searchParams.get('id') ?? '', as);
    return found.ok ? lead(found.value) : say(found.status, found.error.message);
  } catch (error) {
    log.error({ err: error }, 'An invoice could not be found');
    return say(503, messages.invoiceUnavailable);
  }
};
