/** An access service over a fresh database for tests, with one signed-in reader, and with payments set by the test. */

import { type AccessOptions, createAccess } from '../../src/lib/access/access.server.ts';
import type { Paid } from '../../src/lib/access/entitlements.ts';
import type { ArticleSubject } from '../../src/lib/access/model.ts';
import type { Database } from '../../src/lib/database.ts';
import { createPassCookie } from '../../src/press/delivery/access-cookie.ts';
import { fixture } from './accounts.ts';

/** Seconds. */
export const day = 86_400;
const key = { id: 'k1', secret: 'a secret that is long enough for a test' };

export const article = (id: number, level: ArticleSubject['level'] = 'default'): ArticleSubject => ({
  id,
  slug: `story-${id}`,
  level,
});

export async function accessFixture(database: Database, rules: Partial<AccessOptions['rules']> = {}) {
  const own = await fixture(database);
  const now = () => own.clock.now;
  let paid: readonly Paid[] = [];
  const pass = createPassCookie({ name: 'gift', keys: [key], now });
  const access = createAccess({
    database,
    secret: key.secret,
    secure: true,
    pass,
    now,
    rules: {
      meter: { days: 30, anonymous: 2, registered: 3 },
      trialHours: 0,
      gifts: { days: 14, readers: 2, most: 2, passMinutes: 60 },
      ...rules,
    },
    paid: async () => paid,
    promotionDays: () => 60,
  });
  const { session } = await own.join('ada@example.com');
  const read = (id: number, count = true, level?: ArticleSubject['level']) =>
    access.view({ session, path: `/article/story-${id}?x=1`, article: article(id, level), cookies: null, count });
  const pay = (product: string, seconds: number, trialing = false) => {
    paid = [{ product, until: own.clock.now + seconds * 1000, trialing }];
  };
  return { ...own, access, session, read, pay, pass, database };
}
