/** The shipping form's other end without a script: it is checked, saved, and shown again with what was typed where it was not. */
import type { AstroGlobal } from 'astro';
import { unconfirmed } from '../accounts/forms.ts';
import type { Session } from '../accounts/service.ts';
import type { Billing } from '../billing/service.ts';
import { readForm } from '../http/body.server.ts';
import { isOwnForm } from '../http/form.server.ts';
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

const wrong = 'Something went wrong. Please try again.';

/** @returns the page to go back to when the address has been saved */
export async function postShipping(
  { request, locals, url }: Pick<AstroGlobal, 'request' | 'locals' | 'url'>,
  billing: Billing,
  reader: Session,
): Promise<ShippingRefused | ShippingPage> {
  if (!isOwnForm(request, locals.config.siteUrl)) {
    return { status: 403, problem: 'This form was sent from another site. Please send it from here.' };
  }
  const form = await readForm(request);
  if (!form) return { status: 400, problem: wrong };
  const typed = fieldsFrom((name) => form.get(name));
  const checked = checkShipping(typed);
  if (!checked.ok) return { status: 422, typed, errors: checked.errors };
  try {
    const saved = await billing.saveShipping(reader, checked.shipping);
    if (saved.ok) return shippingPages.find((page) => page === form.get('return')) ?? shippingPages[0];
    const said = saved.status < 500 ? saved.error.message : wrong;
    return {
      status: saved.status === 429 ? 429 : saved.status < 500 ? 422 : 503,
      typed,
      problem: said,
      unconfirmed: saved.error.code === unconfirmed,
    };
  } catch (error) {
    locals.services.log.error({ err: error, url: url.pathname }, 'A shipping address could not be saved');
    return { status: 503, typed, problem: wrong };
  }
}
