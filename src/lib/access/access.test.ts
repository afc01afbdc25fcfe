/** The access service on both engines: entitlements and meter. */
import { describe, expect, it } from 'vitest';
import { accessFixture, article, day } from '../../../tests/world/access.ts';
import { caller, elsewhere, got } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { deleteOldRows } from '../jobs/old-rows.ts';
import { accessDetails, featureValue } from './answers.ts';

onBothEngines('access', (engines) => {
  const open = async (rules: Parameters<typeof accessFixture>[1] = {}) => accessFixture(await engines.open(), rules);

  describe('the meter', () => {
    const left = ({
      meter: { state, remaining, counted },
    }: Awaited<ReturnType<Awaited<ReturnType<typeof open>>['read']>>) => [state, remaining, counted];

    it('counts an article once, and asks for a subscription when none is left', async () => {
      const { read } = await open();
      expect(left(await read(1))).toEqual(['left', 2, true]);
      expect(left(await read(1))).toEqual(['counted', 2, false]);
      expect(left(await read(2))).toEqual(['left', 1, true]);
      expect(left(await read(3))).toEqual(['left', 0, true]);
      const over = await read(4);
      expect(left(over)).toEqual(['over', 0, false]);
      expect(featureValue(over, 'paywall').outputValue).toBe('SOFT_SUBSCRIBE');
      expect(featureValue(over, 'article-access').outputValue).toBe('FULL');
      // What was read before stays open.
      expect(featureValue(await read(2), 'paywall').outputValue).toBe('NONE');
    });

    it('does not count free, registered-only or paid reading, or pages other than articles', async () => {
      const { read, access, session, pay } = await open();
      expect(left(await read(1, false))).toEqual(['left', 3, false]);
      expect(left(await read(1, true, 'free'))).toEqual(['left', 3, false]);
      expect(left(await read(1, true, 'registered'))).toEqual(['left', 3, false]);
      pay('sun-reader', 60);
      await read(1);
      pay('sun-reader', 0);
      expect(left(await read(2, false))).toEqual(['left', 3, false]);
      const page = await access.view({ session, path: '/', article: null, cookies: null, count: true });
      expect(left(page)).toEqual(['left', 3, false]);
    });

    it('forgets what was read after thirty days', async () => {
      const { read, clock, database } = await open();
      for (const id of [1, 2, 3]) await read(id);
      clock.pass(29 * day);
      expect(left(await read(4))).toEqual(['over', 0, false]);
      clock.pass(day);
      expect(left(await read(4))).toEqual(['left', 2, true]);
      expect(await database.db.selectFrom('article_reads').select('article_id').execute()).toHaveLength(1);
    });

    it('deletes old readings and gift links of readers who don’t come back', async () => {
      const { read, access, session, pay, clock, database } = await open();
      for (const id of [1, 2]) await read(id);
      pay('sun-reader', 60);
      await access.give(session, 7);
      const rows = async () => [
        (await database.db.selectFrom('article_reads').select('article_id').execute()).length,
        (await database.db.selectFrom('gifts').select('id').execute()).length,
      ];
      clock.pass(29 * day);
      await deleteOldRows(access.oldRows);
      expect(await rows()).toEqual([2, 1]);
      clock.pass(2 * day);
      await deleteOldRows(access.oldRows);
      expect(await rows()).toEqual([0, 0]);
    });

    it('counts an article once when several tabs request it at the same time', async () => {
      const { read } = await open();
      const views = await Promise.all([1, 1, 1, 1, 2, 2].map((id) => read(id)));
      expect(views.filter(({ meter }) => meter.counted)).toHaveLength(2);
      expect(left(await read(9, false))).toEqual(['left', 1, false]);
    });

    it('opens no more articles than it has left when several tabs request them at the same time', async () => {
      const { read } = await open();
      const views = await Promise.all([1, 2, 3, 4, 5, 6].map((id) => read(id)));
      expect(views.filter(({ meter }) => meter.state === 'left')).toHaveLength(3);
      expect(left(await read(7))).toEqual(['over', 0, false]);
    });

    it('is separate for each reader', async () => {
      const { access, read, join } = await open();
      for (const id of [1, 2, 3]) await read(id);
      const { session } = await join('grace@example.com', elsewhere(1));
      const path = '/article/story-1';
      const view = await access.view({ session, path, article: article(1), cookies: null, count: true });
      expect(left(view)).toEqual(['left', 2, true]);
    });

    it('records nothing for a reader who is not signed in', async () => {
      const { access, database } = await open();
      const view = await access.view({
        session: null,
        path: '/article/x',
        article: article(1),
        cookies: null,
        count: true,
      });
      expect(accessDetails(view)).toMatchObject({
        authenticated: false,
        meters: {
          articles: { totalCredits: 2, remainingCredits: 2, decrementedInDecision: false, usedInDecision: true },
        },
      });
      expect(await database.db.selectFrom('article_reads').selectAll().execute()).toEqual([]);
    });
  });

  describe('entitlements', () => {
    it('are reported in the form that the specification shows', async () => {
      const { read, pay, clock } = await open();
      expect(accessDetails(await read(1, true, 'subscriber'))).toEqual({
        authenticated: true,
        accessDecisions: { 'article-access': false },
        entitlements: { registered: { usedInDecision: false, decrementedInDecision: false } },
        credits: {},
        meters: {
          articles: { usedInDecision: false, decrementedInDecision: false, totalCredits: 3, remainingCredits: 3 },
        },
        trialTrackingDetails: [],
        trials: {},
        timeTrials: {},
        testGroups: {},
        activeProducts: [],
      });
      pay('sun-member', 30 * day);
      const unused = { usedInDecision: false, decrementedInDecision: false };
      expect(accessDetails(await read(1, true, 'subscriber'))).toEqual({
        authenticated: true,
        accessDecisions: { 'article-access': true },
        entitlements: { 'sun-member': { ...unused, usedInDecision: true }, registered: unused },
        credits: { gifts: { ...unused, totalCredits: 2, remainingCredits: 2 } },
        meters: {},
        trialTrackingDetails: [],
        trials: {},
        timeTrials: {},
        testGroups: {},
        activeProducts: ['sun-member'],
      });
      clock.pass(30 * day);
      expect(accessDetails(await read(1, true, 'subscriber'))).toMatchObject({
        accessDecisions: { 'article-access': false },
        activeProducts: [],
      });
    });

    it('report the real start and remaining hours of the penny promotion', async () => {
      const { read, pay, clock, access, session } = await open();
      const began = clock.now;
      pay('sun-reader', 60 * day, true);
      clock.pass(12 * 3600);
      const { timeTrials, activeProducts, entitlements } = accessDetails(await read(1, true, 'subscriber'));
      expect(activeProducts).toEqual(['sun-reader']);
      expect(entitlements).toMatchObject({ 'sun-reader': { usedInDecision: true } });
      expect(timeTrials).toEqual({
        promotion: {
          reportInDataLayer: false,
          trialDurationUnits: 'HOURS',
          trialDuration: 60 * 24,
          entryTime: `${new Date(began).toISOString()}[UTC]`,
          trackerHits: 0,
          timeRemainingInTrial: 60 * 24 - 12,
          activeInDecision: true,
        },
      });
      expect(await access.grantFor(session.userId, null)).toEqual({
        level: 'subscriber',
        until: began + 60 * day * 1000,
        visitor: 'reader',
      });
    });

    it('open subscriber articles during the trial hours after registration, and no longer', async () => {
      const { read, clock, access, session } = await open({ trialHours: 24 });
      const began = clock.now;
      const view = await read(1, true, 'subscriber');
      expect(accessDetails(view).meters).toEqual({});
      expect(accessDetails(view)).toMatchObject({
        accessDecisions: { 'article-access': true },
        timeTrials: { registration: { trialDuration: 24, timeRemainingInTrial: 24, activeInDecision: true } },
        activeProducts: [],
      });
      expect(featureValue(view, 'meter').outputValue).toBe('UNLIMITED');
      expect(await access.grantFor(session.userId, began)).toMatchObject({
        level: 'subscriber',
        visitor: 'registered',
      });
      clock.pass(24 * 3600);
      const over = accessDetails(await read(1, true, 'subscriber'));
      expect([over.accessDecisions, over.timeTrials]).toEqual([{ 'article-access': false }, {}]);
      expect(await access.grantFor(session.userId, began)).toMatchObject({ level: 'registered' });
    });

    it('include no trial hours before the address is confirmed', async () => {
      const { accounts, access } = await open({ trialHours: 24 });
      const { signedIn } = got(await accounts.create('eve@example.com', caller(), { enter: true }));
      const session = signedIn?.session ?? null;
      expect(session).toMatchObject({ emailVerified: false });
      const question = { session, path: '/a', article: article(1, 'subscriber'), cookies: null, count: true };
      const view = await access.view(question);
      const { accessDecisions, timeTrials } = accessDetails(view);
      expect([accessDecisions, timeTrials]).toEqual([{ 'article-access': false }, {}]);
    });
  });

  describe('features', () => {
    it('return the documented value for each name, reader and page', async () => {
      const { read, pay, access, session } = await open();
      const home = () => access.view({ session, path: '/', article: null, cookies: null, count: true });
      const say = async (view: Parameters<typeof featureValue>[0]) =>
        ['article-access', 'paywall', 'meter', 'print-upsell', 'ads', 'join', 'gift', 'anything else'].map(
          (name) => featureValue(view, name).outputValue,
        );
      expect(await say(await read(1, true, 'registered'))).toEqual([
        'FULL',
        'NONE',
        '3',
        'NO',
        'YES',
        'JOIN',
        'NO',
        'YES',
      ]);
      expect(await say(await read(1, true, 'subscriber'))).toEqual([
        'OPENING',
        'SUBSCRIBE',
        '3',
        'NO',
        'YES',
        'JOIN',
        'NO',
        'YES',
      ]);
      pay('sun-reader', 60);
      expect(await say(await read(1, true, 'subscriber'))).toEqual([
        'FULL',
        'NONE',
        'UNLIMITED',
        'YES',
        'NO',
        'UPGRADE',
        'YES',
        'YES',
      ]);
      expect(featureValue(await home(), 'print-upsell').outputValue).toBe('YES');
      const section = await access.view({ session, path: '/section/arts', article: null, cookies: null, count: true });
      expect(featureValue(section, 'print-upsell').outputValue).toBe('NO');
      pay('sun-founder', 60);
      expect(await say(await read(1))).toEqual(['FULL', 'NONE', 'UNLIMITED', 'NO', 'NO', 'NONE', 'NO', 'YES']);
      const stranger = await access.view({
        session: null,
        path: '/article/story-1',
        cookies: null,
        count: true,
        article: article(1, 'registered'),
      });
      expect(await say(stranger)).toEqual(['OPENING', 'REGISTER', '2', 'NO', 'YES', 'JOIN', 'NO', 'NO']);
      expect(featureValue(stranger, 'constructor').outputValue).toBe('NO');
    });
  });
});
