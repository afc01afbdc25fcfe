/**
 * Always 200 (docs/services/zephr.md). Recognizing a reader by an address in a link is optional in the vendor's API; here a link never
 * signs a reader in, and the response doesn't reveal whether the address is known.
 */

import { wireMessages } from '../../lib/accounts/messages.ts';
import { identifiersBody } from '../../lib/accounts/schema.ts';
import { allowOnly, jsonRoute } from '../../lib/http/routes.server.ts';

export const POST = jsonRoute(identifiersBody, async () => ({
  status: 200,
  body: { message: wireMessages.recognized },
}));
export const ALL = allowOnly('POST');
