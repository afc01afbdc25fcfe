/** Readers whose mailbox doesn't exist get no more newsletters. */
import { expect, it, vi } from 'vitest';
import { fixture } from '../../../tests/world/accounts.ts';
import { onBothEnginesAlone } from '../../../tests/world/databases.ts';
import { silent } from '../logging.ts';
import type { NewsletterIssue } from '../mail/model.ts';
import { openOutbox } from '../mail/outbox.server.ts';
import { publisherAt } from '../mail/publisher.ts';
import type { MailTransport } from '../mail/smtp.server.ts';
import { createNewsletters, forgetChoices } from './service.server.ts';

const secret = 'a secret of the newsletters that is long enough';
const siteUrl = 'https://sun.example';
const paper = publisherAt(siteUrl);
const issue: NewsletterIssue = {
  letter: 'Morning Sun',
  slug: 'morning',
  day: 'today',
  stories: [{ title: 'A crack', standfirst: '', path: '/article/a', kicker: '', byline: '', minutes: 3 }],
};

onBothEnginesAlone('a mailbox', (engines) => {
  it.each([
    ['550 5.1.1', 'newsletter', 100, 0],
    ['550 5.1.6', 'newsletter', 100, 0],
    ['556 5.1.10', 'newsletter', 100, 0],
    ['550', 'newsletter', 100, 2],
    ['550 5.1.2', 'newsletter', 100, 2],
    ['552 5.2.2', 'newsletter', 100, 2],
    ['550 5.7.1', 'newsletter', 100, 2],
    ['550 5.1.1', 'welcome', 100, 2],
    // The server seems to have lost its list of mailboxes.
    ['550 5.1.1', 'newsletter', 20, 2],
  ])(
    'that refuses with "%s" a %s, after %i that were accepted, leaves its reader %i choices',
    async (detail, kind, accepted, left) => {
      const database = await engines.open();
      const site = await fixture(database);
      const transport: MailTransport = {
        send: async (_id, to) => (to.startsWith('known') ? { kind: 'sent' } : { kind: 'refused', detail }),
        close() {},
      };
      const onUnknownMailbox = (address: string) => forgetChoices(database, address);
      const outbox = openOutbox({ database, transport, paper, secret, log: silent, pollMs: 20, onUnknownMailbox });
      const letters = createNewsletters({ database, outbox, secret, siteUrl });
      const { session: ada } = await site.join('ada@example.com');
      const { session: ben } = await site.join('ben@example.com');
      await letters.choose(ada, ['morning', 'offers']);
      await letters.choose(ben, ['evening']);
      if (kind === 'newsletter') await letters.send('morning', () => issue);
      else await database.transaction((tx) => outbox.enqueue(tx, { kind: 'welcome', to: ada.email, firstName: null }));
      await database.transaction(async (tx) => {
        for (let i = 0; i < accepted; i++)
          await outbox.enqueue(tx, { kind: 'welcome', to: `known-${i}@example.com`, firstName: null });
      });
      outbox.start();
      await vi.waitFor(() => expect(outbox.stats().refused).toBe(1));
      await outbox.stop();
      expect(await letters.choices(ada.userId)).toHaveLength(left);
      expect(await letters.choices(ben.userId)).toEqual(['evening']);
    },
  );
});
