/** From a call of the Zephr wire to what decides about it. */
import type { APIContext } from 'astro';
import { publication } from '../../publication.ts';
import type { Session } from '../accounts/service.ts';
import { anonymousMeter } from './access.server.ts';
import type { View } from './answers.ts';
import { anonymous } from './standing.ts';
import { articleAt } from './subject.ts';

/** What the two calls have in common (vendors.md 1.9 and 1.10). */
export interface Asked {
  readonly path?: string | undefined;
  readonly giftToken?: string | undefined;
  /** Decides without counting. */
  readonly dryRunMode?: boolean | undefined;
}

/** Where accounts are off, or kept elsewhere, everybody is anonymous and nothing is counted. */
export async function viewFor(
  { locals, request }: Pick<APIContext, 'locals' | 'request'>,
  session: Session | null,
  { path = '/', giftToken, dryRunMode = false }: Asked,
): Promise<View> {
  const article = articleAt(locals.content, path);
  const { access } = locals.services;
  if (access) {
    const cookies = request.headers.get('cookie');
    return access.view({ session, path, article, cookies, giftToken, count: !dryRunMode });
  }
  return {
    standing: anonymous,
    path: path.split(/[?#]/, 1)[0] || '/',
    subject: article?.level ?? 'none',
    gift: false,
    meter: anonymousMeter(publication.access.meter.anonymous),
    gifts: null,
    now: Date.now(),
  };
}
