/** Forms of the shipping address and of a change of plan, as browsers without JavaScript send them. */

import { randomUUID } from 'node:crypto';
import type { AstroGlobal } from 'astro';
import { unconfirmed } from '../accounts/forms.ts';
import type { Session } from '../accounts/service.ts';
import type { Billed, Billing } from '../billing/service.ts';
import type { QuoteAnswer, SwitchAnswer } from '../billing/wire.ts';
import { readForm } from '../http/body.server.ts';
import { isOwnForm } from '../http/form.server.ts';
import { common } from '../http/messages.ts';
import { planSwitch } from './messages.ts';
import {
  checkShipping,
  fieldsFrom,
  type ShippingErrors,
  type ShippingFields,
  type ShippingPage,
  shippingPages,
} from './shipping.ts';

/** What was wrong. */
export interface ShippingRefused {
  readonly status: 400 | 403 | 422 | 429 | 503;
  /** What was typed; nothing where it could not be read. */
  readonly typed?: ShippingFields;
  readonly errors?: ShippingErrors;
  /** A sentence about the whole. */
  readonly problem?: string;
  /** The reader's email address has to be confirmed first. */
  readonly unconfirmed?: boolean;
}

/** @returns the page to go back to when the address has been saved */
export async function postShipping(
  { request, locals, url }: Pick<AstroGlobal, 'request' | 'locals' | 'url'>,
  billing: Billing,
  reader: Session,
): Promise<ShippingRefused | ShippingPage> {
  if (!isOwnForm(request, locals.config.siteUrl)) {
    return { status: 403, problem: common.otherSite };
  }
  const form = await readForm(request);
  if (!form) return { status: 400, problem: common.wrong };
  const typed = fieldsFrom((name) => form.get(name));
  const checked = checkShipping(typed);
  if (!checked.ok) return { status: 422, typed, errors: checked.errors };
  try {
    const saved = await billing.saveShipping(reader, checked.shipping);
    if (saved.ok) return shippingPages.find((page) => page === form.get('return')) ?? shippingPages[0];
    const said = saved.status < 500 ? saved.error.message : common.wrong;
    return {
      status: saved.status === 429 ? 429 : saved.status < 500 ? 422 : 503,
      typed,
      problem: said,
      unconfirmed: saved.error.code === unconfirmed,
    };
  } catch (error) {
    locals.services.log.error({ err: error, url: url.pathname }, 'A shipping address could not be saved');
    return { status: 503, typed, problem: common.wrong };
  }
}

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
          problem: common.otherSite,
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
    return { quote: null, attempt: '', problem: common.wrong, remedy: null, status: 503 };
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
  if (answer.ok) return { problem: planSwitch.asksBank, remedy: planSwitch.remedies.otherCard, status: 402 };
  const { status, error } = answer;
  const remedies: Readonly<Record<string, SwitchView['remedy']>> = planSwitch.remedies;
  const remedy = remedies[status === 402 ? 'unpaid' : (error.code ?? '')] ?? null;
  return { problem: status >= 500 ? common.wrong : error.message, remedy, status };
}
