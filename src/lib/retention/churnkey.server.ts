/** Signs for the retention widget which customer it acts for (vendors.md 4), and the form of `POST /api/churnkey` (spec section 7). */
import { createHmac } from 'node:crypto';
import { z } from 'zod';

/** Hex HMAC-SHA256 of the customer's number under the vendor's API key. */
export const userHash = (apiKey: string, customerId: string): string =>
  createHmac('sha256', apiKey).update(customerId).digest('hex');

/** The address is taken for nothing: whose hash it is, the session says. */
export const churnBody = z.looseObject({ email: z.string().max(320).optional() });
