/** POST /api/forms/support (spec section 7). Lengths and forms are `form.ts`'s business, which says them field by field. */
import { z } from 'zod';
import { hiddenFields } from './form.ts';

const text = z.string().max(20_000);

export const supportBody = z.looseObject({
  name: text,
  email: text,
  phone: text,
  message: text,
  [hiddenFields.trap]: text.optional(),
  [hiddenFields.stamp]: z.string().max(1000).optional(),
});
export type SupportBody = z.input<typeof supportBody>;

/** 200; 400, 429 and 503 carry a `message` too, and 400 what is wrong with which field. */
export interface SupportAnswer {
  readonly message: string;
}
