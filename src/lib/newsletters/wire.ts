/** GET and PUT /api/v1/me/newsletters: what the reader who is signed in gets by mail. */
import { z } from 'zod';

/** Unknown choices are left out. */
export const choicesBody = z.looseObject({ choices: z.array(z.string().max(64)).max(50) });

export interface ChoicesAnswer {
  readonly choices: readonly string[];
}
