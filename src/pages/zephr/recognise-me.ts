/**
 * Always 200 (vendors.md 1.11). Tying a browser to a reader because a link names them is a feature that has to be opted into; here
 * nobody is signed in for an address in a link, and the answer does not say whether it is known.
 */

import { wireMessages } from '../../lib/accounts/messages.ts';
import { identifiersBody } from '../../lib/accounts/schema.ts';
import { allowOnly, jsonRoute } from '../../lib/http/routes.server.ts';

export const POST = jsonRoute(identifiersBody, async () => ({
  status: 200,
  body: { message: wireMessages.recognised },
}));
export const ALL = allowOnly('POST');
