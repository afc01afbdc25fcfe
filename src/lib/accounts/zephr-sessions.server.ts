/** Who is reading, where a Zephr tenant keeps the accounts: asked of the tenant, for page guards and paid articles. */
import { request } from 'undici';
import { z } from 'zod';
import { readCookies, setCookie } from './engine/cookies.ts';
import { trackingCookie } from './names.ts';
import type { Accounts } from './service.ts';
import { visitorCookie } from './visitor.ts';

export interface TenantSessionsOptions {
  /** Base address of the tenant, no slash at its end. */
  readonly url: string;
  /** Whether the site is served over HTTPS. */
  readonly secure: boolean;
  /** The signer of the access cookie. */
  readonly access: {
    readonly name: string;
    /** @param expires Unix seconds */
    sign(level: 'registered', expires: number): string;
    verify(value: string): string | null;
  };
  /** Milliseconds for the tenant's answer. */
  readonly patienceMs?: number;
}

const account = z.object({
  identifiers: z.object({ email_address: z.string() }),
  tracking_id: z.string(),
});
/** Seconds. */
const accessLife = 15 * 60;
const visitorLife = 30 * 24 * 60 * 60;
const sessionCookie = 'blaize_session';

/** @returns as `Accounts.session`; it rejects when the tenant does not answer, or not as it should */
export function tenantSessions(options: TenantSessionsOptions): Pick<Accounts, 'session'> {
  const { url, secure, access, patienceMs = 5000 } = options;
  return {
    async session(header) {
      const mine = [sessionCookie, trackingCookie].flatMap((name) =>
        readCookies(header, name).map((value) => `${name}=${value}`),
      );
      if (!mine.some((cookie) => cookie.startsWith(`${sessionCookie}=`))) return { session: null, cookies: [] };
      const answer = await request(`${url}/blaize/account`, {
        headers: { cookie: mine.join('; '), accept: 'application/json' },
        headersTimeout: patienceMs,
        bodyTimeout: patienceMs,
      });
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        if (answer.statusCode === 401) return { session: null, cookies: [] };
        throw new Error(`The Zephr tenant answered ${answer.statusCode} to the question who is reading.`);
      }
      const { identifiers, tracking_id: trackingId } = account.parse(await answer.body.json());
      const cookies: string[] = [];
      if (readCookies(header, visitorCookie).length === 0) {
        cookies.push(setCookie(visitorCookie, 'registered', { maxAge: visitorLife, httpOnly: false, secure }));
      }
      if (!readCookies(header, access.name).some((value) => access.verify(value) !== null)) {
        const value = access.sign('registered', Math.floor(Date.now() / 1000) + accessLife);
        cookies.push(setCookie(access.name, value, { maxAge: accessLife, httpOnly: true, secure }));
      }
      // The tenant says neither which session it is nor since when.
      const session = { id: trackingId, userId: trackingId, trackingId, email: identifiers.email_address };
      return { session: { ...session, emailVerified: true, createdAt: 0 }, cookies };
    },
  };
}
