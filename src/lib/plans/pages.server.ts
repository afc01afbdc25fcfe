/** What pages do with plans: the plans on sale, and the forms of the shipping address and of a change of plan without JavaScript. */

import { randomUUID } from 'node:crypto';
import type { APIContext, AstroGlobal } from 'astro';
import { unconfirmed } from '../accounts/model.ts';
import type { Session } from '../accounts/service.ts';
import type { QuoteAnswer, SwitchAnswer } from '../billing/schema.ts';
import type { Billed, Billing } from '../billing/service.ts';
import { tag } from '../content/tags.ts';
import { type FormRefusal, type Next, postedForm } from '../http/form.server.ts';
import { readFields } from '../http/form-fields.ts';
import { common } from '../http/messages.ts';
import { callerOf } from '../http/routes.server.ts';
import { planSwitch } from './messages.ts';
import { type Offer, offerIn, offerOf } from './model.ts';
import {
  checkShipping,
  readSwitch,
  type ShippingErrors,
  type ShippingValues,
  shippingFields,
  shippingPages,
} from './schema.ts';

type Page = Pick<AstroGlobal, 'request' | 'locals' | 'url' | 'clientAddress'>;

/** Why an address was not saved. */
export interface ShippingRefusal {
  readonly status: 403 | 415 | 422 | 429 | 503;
  readonly values?: ShippingValues;
  readonly errors?: ShippingErrors;
  /** A sentence about the whole form. */
  readonly problem?: string;
  /** The reader has to confirm the email address first. */
  readonly unconfirmed?: boolean;
}

/** Saves the posted address. @returns the redirect, or why the form is shown again */
export const postShipping = (page: Page, billing: Billing, reader: Session): Promise<Response | ShippingRefusal> =>
  postedForm(page, async (form): Promise<Next | ShippingRefusal> => {
    const values = readFields(shippingFields, (name) => form.get(name));
    const checked = checkShipping(values);
    if (!checked.ok) return { status: 422, values, errors: checked.errors };
    try {
      const saved = await billing.saveShipping(reader, checked.shipping);
      if (saved.ok) {
        const to = shippingPages.find((path) => path === form.get('return')) ?? shippingPages[0];
        return { to: `${to}?state=saved` };
      }
      const { status, error } = saved;
      if (status >= 500) return { status: 503, values, problem: common.wrong };
      const unconfirmedFirst = error.code === unconfirmed;
      return { status: status === 429 ? 429 : 422, values, problem: error.message, unconfirmed: unconfirmedFirst };
    } catch (error) {
      page.locals.services.log.error({ err: error, url: page.url.pathname }, 'A shipping address could not be saved');
      return { status: 503, values, problem: common.wrong };
    }
  });

interface SwitchRefusal {
  /** A sentence for the reader; `null`: nothing is wrong. */
  readonly problem: string | null;
  /** Where the reader can solve it. */
  readonly remedy: { readonly href: string; readonly words: string } | null;
  readonly status: number;
}

/** What the page of a change of plan shows. */
export interface SwitchView extends SwitchRefusal {
  readonly quote: QuoteAnswer | null;
  /** Id of this decision; sending it again is the same change. */
  readonly attempt: string;
}

/** Handles the posted form and quotes the change. @returns a redirect once the plan has changed */
export async function switchPage(
  page: Page,
  billing: Billing,
  reader: Session,
  planId: string,
): Promise<SwitchView | Response> {
  const { address } = callerOf(page);
  let refused: SwitchRefusal | FormRefusal | null = null;
  if (page.request.method === 'POST') {
    const posted = await postedForm(page, async (form): Promise<Next | SwitchRefusal> => {
      const wanted = { planId, ...readSwitch((name) => form.get(name)) };
      const answer = await billing.switchPlan(reader, wanted, address);
      if (answer.ok && answer.value.clientSecret === null) return { to: '/dashboard/account?state=switched#plan' };
      return refusalOf(answer);
    });
    if (posted instanceof Response) return posted;
    refused = posted;
  }
  const nothing = { problem: null, remedy: null, status: 200 };
  try {
    const quote = await billing.quote(reader, { planId }, address);
    if (quote.ok) return { ...nothing, ...refused, quote: quote.value, attempt: randomUUID() };
    return { ...nothing, quote: null, attempt: '', problem: quote.error.message, status: quote.status };
  } catch (error) {
    page.locals.services.log.error({ err: error, url: page.url.pathname }, 'A change of plan could not be quoted');
    return { ...nothing, quote: null, attempt: '', problem: common.wrong, status: 503 };
  }
}

function refusalOf(answer: Billed<SwitchAnswer>): SwitchRefusal {
  if (answer.ok) return { problem: planSwitch.asksBank, remedy: planSwitch.remedies.otherCard, status: 402 };
  const { status, error } = answer;
  const remedies: Readonly<Record<string, SwitchRefusal['remedy']>> = planSwitch.remedies;
  const remedy = remedies[status === 402 ? 'unpaid' : (error.code ?? '')] ?? null;
  return { problem: status >= 500 ? common.wrong : error.message, remedy, status };
}

/** The plans on sale. A page that reads them gets the tag `prices`, and is rendered again when the catalog changes. */
export function planOffer({ services, content }: Pick<App.Locals, 'services' | 'content'>): Offer {
  content.note(tag.prices);
  return offerOf(services.billing?.prices() ?? []);
}

/** The plans on sale to one reader, in their currency: for pages that are never cached. */
export async function readerOffer(
  context: Pick<APIContext, 'locals' | 'request' | 'clientAddress'>,
  reader: Session | null,
): Promise<Offer> {
  const { billing, geo } = context.locals.services;
  const offer = planOffer(context.locals);
  if (!billing) return offer;
  const { country } = geo.locate(callerOf(context).address, context.request.headers);
  const { currency } = await billing.currency(reader, country);
  return offerIn(offer, currency);
}
