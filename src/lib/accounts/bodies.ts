/** From what the wire brings, in all its shapes, to what the account service takes. */

import { returnPath } from '../http/return-path.ts';
import { codeKeys, tokenExchangeKey } from './names.ts';
import type { Caller, Credentials, Delivery, Profile } from './service.ts';
import type { CredentialsBody, DeliveryBody, ProfileBody } from './wire.ts';

/** What is wrong with a body, as a sentence. */
export type Taken<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

const wrong = (message: string): { ok: false; message: string } => ({ ok: false, message });

/** Six digits as people type and paste them: with spaces and dashes between. */
export const tidyCode = (code: string): string => code.replace(/[\s-]+/g, '');

/**
 * The credentials of `/blaize/login` and `/blaize/register`. A state key stands for the address; a code is taken under any
 * of {@link codeKeys}.
 */
export function credentialsOf(body: CredentialsBody, caller: Caller): Taken<Credentials> {
  const { validators } = body;
  const email = body.identifiers?.email_address;
  const stateKey = validators[tokenExchangeKey];
  const key = codeKeys.find((name) => validators[name]);
  const attributes = body.attributes && profileOf(body.attributes);
  const more = { caller, ...(attributes && { attributes }) };
  if (stateKey) return { ok: true, value: { validators: { tokenExchange: stateKey }, ...more } };
  if (!key) return wrong('validators hold no code.');
  if (!email) return wrong('identifiers.email_address is missing or not valid.');
  return { ok: true, value: { email, validators: { code: tidyCode(validators[key] ?? '') }, ...more } };
}

/**
 * What is to be mailed, from either shape or both; where they differ the flat one counts (vendors.md 1.3).
 *
 * @param siteUrl origin of the site; a redirect may be a whole address under it
 */
export function deliveryOf(body: DeliveryBody, siteUrl: string, caller: Caller): Taken<Delivery & { method: string }> {
  const { identifiers, delivery } = body;
  const email = identifiers.email_address;
  const purpose = body.action ?? delivery?.action;
  if (!purpose) return wrong('action is missing or not valid.');
  const destination = delivery?.destination?.trim();
  if (destination && destination.toLowerCase() !== email.toLowerCase()) {
    return wrong('delivery.destination is another address than identifiers.email_address.');
  }
  const method = body.method ?? delivery?.method ?? 'email';
  const redirect = returnPath(body.redirect ?? delivery?.redirect, siteUrl);
  return { ok: true, value: { email, purpose, redirect, caller, method } };
}

/** Key of a profile body that proves something and is no attribute (vendors.md 1.6). */
const validatorKey = 'blaize-validator';

/** Attributes; what is empty in a form may come as `null`. */
export const profileOf = (body: ProfileBody): Profile =>
  Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => name !== validatorKey)
      .map(([name, value]) => [name, value ?? '']),
  );
