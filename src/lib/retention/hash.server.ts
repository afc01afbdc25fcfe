/** Lets the retention widget act for one customer: the vendor takes our word for who it is (vendors.md 4). */
import { createHmac } from 'node:crypto';

/** Hex HMAC-SHA256 of the customer's number under the vendor's API key. */
export const userHash = (apiKey: string, customerId: string): string =>
  createHmac('sha256', apiKey).update(customerId).digest('hex');
