import { expect, it } from 'vitest';
import { browser, fixture } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { silent } from '../../lib/logging.ts';
import { createAccessCookie } from '../../press/delivery/access-cookie.ts';
import { renewAccess } from './cached-pages.ts';

onBothEngines('a session on a restricted page', (engines) => {
  it('is extended only if the page is sent with its cookies', async () => {
    const { accounts, clock, join } = await fixture(await engines.open());
    const keys = [{ id: 'test', secret: 'an access key of the tests, also long enough' }];
    const access = createAccessCookie({ name: 'access', keys, now: () => clock.now });
    const renew = renewAccess(accounts, access, silent);
    const jar = browser((await join('ada@example.com')).cookies);
    const hasSession = (cookies: readonly string[] = []) => cookies.some((line) => line.startsWith('blaize_session='));

    clock.pass(2 * 86_400);
    const teaser = await renew(jar, 'subscriber');
    expect([teaser?.level, hasSession(teaser?.cookies)]).toEqual(['registered', false]);
    const full = await renew(jar, 'registered');
    expect([full?.level, hasSession(full?.cookies)]).toEqual(['registered', true]);

    clock.pass(2 * 86_400);
    await renew(jar, 'subscriber');
    // The call of the page's script, which comes next, still extends it.
    expect(hasSession((await accounts.session(jar)).cookies)).toBe(true);
  });
});
