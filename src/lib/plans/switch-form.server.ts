/** To another plan without a script: what it would come to, and the form's other end. */
import { randomUUID } from 'node:crypto';
import type { AstroGlobal } from 'astro';
import type { Session } from '../accounts/service.ts';
import type { Billed, Billing } from '../billing/service.ts';
import type { QuoteAnswer, SwitchAnswer } from '../billing/wire.ts';
import { readForm } from '../http/body.server.ts';
import { isOwnForm } from '../http/form.server.ts';

/** What the page of a switch shows. */
export interface SwitchView {
  readonly quote: QuoteAnswer | null;
  /** Number of this decision; the same one again is the same switch. */
  readonly attempt: string;
  /** A sentence about what was wrong. */
  readonly problem: string | null;
  /** Where that can be put right. */
  readonly remedy: { readonly href: string; readonly words: string } | null;
  readonly status: number;
}

const wrong = 'Something went wrong. Please try again.';
const asksBank =
  'Your bank wants to ask you about this payment, which takes JavaScript. Nothing has been charged. Please switch JavaScript on and change your plan once more, or try another card.';
const remedies: Readonly<Record<string, SwitchView['remedy']>> = {
  shipping: { href: '/shipping?edit', words: 'Tell us where the paper goes' },
  unpaid: { href: '/account/card', words: 'Update your card' },
};

/** Works the form, or shows it. @returns `null` when the plan has been changed */
export async function switchPage(
  { request, locals, url }: Pick<AstroGlobal, 'request' | 'locals' | 'url'>,
  billing: Billing,
  reader: Session,
  planId: string,
): Promise<SwitchView | null> {
  const { log } = locals.services;
  let refused: Pick<SwitchView, 'problem' | 'remedy' | 'status'> = { problem: null, remedy: null, status: 200 };
  try {
    if (request.method === 'POST') {
      if (!isOwnForm(request, locals.config.siteUrl)) {
        refused = {
          problem: 'This form was sent from another site. Please send it from here.',
          remedy: null,
          status: 403,
        };
      } else {
        const form = await readForm(request);
        const answer = await billing.switchPlan(reader, { planId, ...decided(form ?? new URLSearchParams()) });
        if (answer.ok && answer.value.clientSecret === null) return null;
        refused = refusalOf(answer);
      }
    }
    const quote = await billing.quote(reader, { planId });
    if (quote.ok) return { ...refused, quote: quote.value, attempt: randomUUID() };
    return { quote: null, attempt: '', problem: quote.error.message, remedy: null, status: quote.status };
  } catch (error) {
    log.error({ err: error, url: url.pathname }, 'A plan could not be changed');
    return { quote: null, attempt: '', problem: wrong, remedy: null, status: 503 };
  }
}

function decided(form: URLSearchParams) {
  const whole = (name: string) => {
    const text = form.get(name) ?? '';
    return /^\d{1,15}$/.test(text) ? { [name]: Number(text) } : {};
  };
  const attempt = form.get('attempt') ?? '';
  return { ...whole('expected'), ...whole('prorationDate'), ...(/^[\da-f-]{36}$/.test(attempt) && { attempt }) };
}

function refusalOf(answer: Billed<SwitchAnswer>): Pick<SwitchView, 'problem' | 'remedy' | 'status'> {
  if (answer.ok)
    return { problem: asksBank, remedy: { href: '/account/card', words: 'Try another card' }, status: 402 };
  const { status, error } = answer;
  const remedy = remedies[status === 402 ? 'unpaid' : (error.code ?? '')] ?? null;
  return { problem: status >= 500 ? wrong : error.message, remedy, status };
}
