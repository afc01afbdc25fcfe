/** Asks for what the retention widget is opened with. */
import { type Answer, ask } from '../http/ask.ts';
import type { ChurnAnswer } from './wire.ts';

export const churnHash = (email: string): Promise<Answer<ChurnAnswer>> => ask('/api/churnkey', { body: { email } });
