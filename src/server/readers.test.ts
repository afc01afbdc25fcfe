import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startMailbox } from '../../sandbox/mailbox/mailbox.ts';
import { fixtureDocument } from '../../tests/fixtures/content.ts';
import { limiterOf } from '../../tests/world/limiter.ts';
import { openContentStore } from '../content/store/content-store.server.ts';
import { createReader } from '../content/store/reader.server.ts';
import { storeDocument, withdrawDocument } from '../content/store/write.server.ts';
import type { RunningBilling } from '../lib/billing/engine/billing.server.ts';
import { type Database, DatabaseUnavailable } from '../lib/database.ts';
import { silent } from '../lib/logging.ts';
import { parseConfig } from './config/config.ts';
import { openDatabase } from './database/open.ts';
import { describeFeatures } from './features.ts';
import { openReaders, type Readers, type ReadersOptions } from './readers.ts';

const verification = { verify: async () => ({ verified: true, suggestedEmail: null, message: '' }) };
const mail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'The Sun <news@example.com>' };
const caller = { address: '203.0.113.1', userAgent: null };
const email = 'ada@example.com';

let dir: string;
let readers: Readers | null = null;
let database: Database | null = null;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'readers-'));
});
afterEach(async () => {
  await readers?.stop();
  readers = null;
  await database?.close();
  database = null;
  rmSync(dir, { recursive: true });
});

async function open(env: Record<string, string>, options: Partial<ReadersOptions> = {}): Promise<Readers | null> {
  const config = parseConfig({ DATA_DIR: dir, ...env });
  database = await openDatabase({ dataDir: dir, databaseUrl: config.databaseUrl, log: silent });
  const limiter = limiterOf(database, config.accounts.limits);
  readers = await openReaders(config, { database, limiter, verification, log: silent, ...options });
  return readers;
}

describe('accounts', () => {
  it('are off without a mail server, and the reason names the settings', async () => {
    expect(await open({})).toBeNull();
    expect(describeFeatures(parseConfig({})).accounts).toEqual({
      on: false,
      why: 'set SMTP_URL and MAIL_FROM so that readers can be mailed links and codes to sign in with',
    });
    expect(describeFeatures(parseConfig(mail)).accounts).toEqual({ on: true });
  });

  it('are off unless the site is served over https or from localhost', async () => {
    for (const siteUrl of ['http://paper.example', 'http://192.168.1.7:4321', 'http://127.0.0.1.example']) {
      const env = { ...mail, SITE_URL: siteUrl };
      expect(await open(env), siteUrl).toBeNull();
      expect(describeFeatures(parseConfig(env)).accounts).toMatchObject({
        on: false,
        why: expect.stringContaining('https'),
      });
    }
    for (const siteUrl of [
      'https://paper.example',
      'http://localhost:1',
      'http://127.0.0.1:1',
      'http://[::1]:1',
      'http://a.localhost',
    ]) {
      expect(describeFeatures(parseConfig({ ...mail, SITE_URL: siteUrl })).accounts, siteUrl).toEqual({ on: true });
    }
  });

  it('are left to the Zephr tenant when one is configured', async () => {
    expect(await open({ ...mail, ZEPHR_URL: 'https://paper.cdn.zephr.example' })).toBeNull();
    expect(describeFeatures(parseConfig({ ZEPHR_URL: 'https://paper.cdn.zephr.example' })).accounts).toEqual({
      on: true,
    });
  });

  it('work while the mail server is down, and queue the mail', async () => {
    const opened = await open(mail);
    opened?.start();
    const made = await opened?.services.accounts.create(email, caller);
    expect(made).toMatchObject({ ok: true });
    expect(await opened?.services.accounts.exists(email, caller)).toEqual({ ok: true, value: true });
    expect(await opened?.outbox.waiting()).toMatchObject({ count: 1 });
  });

  it('keep one secret across restarts, in a file that only its owner can read', async () => {
    await open(mail);
    const file = join(dir, 'accounts-secret');
    const secret = readFileSync(file, 'utf8');
    expect(secret.trim()).toMatch(/^[\w-]{43}$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await readers?.stop();
    await open(mail);
    expect(readFileSync(file, 'utf8')).toBe(secret);
  });

  it('do not prevent startup when PostgreSQL is down', async () => {
    const opened = await open({ ...mail, DATABASE_URL: 'postgres://u:geheim@127.0.0.1:1/paper' });
    expect(opened?.state().database).toMatch(/PostgreSQL does not answer/);
    await expect(opened?.services.accounts.exists(email, caller)).rejects.toThrow(DatabaseUnavailable);
    expect(await opened?.services.accounts.session(null)).toEqual({ session: null, cookies: [] });
  });
});

it('mail leaves out stories and alerts that were withdrawn after it was written, and isn’t sent if none are left', async () => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  onTestFinished(() => store.close());
  const mailbox = await startMailbox();
  onTestFinished(() => mailbox.stop());
  const slugs = ['stays', 'moves', 'goes'];
  const put = (id: number, slug: string, at: number) =>
    storeDocument(store, fixtureDocument({ type: 'articles', id, slug }), { at, clock: 0 });
  for (const [id, slug] of slugs.entries()) put(id + 1, slug, 1);
  const opened = await open({ ...mail, SMTP_URL: mailbox.access.smtpUrl }, { content: () => createReader(store) });
  const write = (to: string, paths: readonly string[], starts?: string) =>
    database?.transaction(async (tx) => {
      const stories = paths.map((path) => ({ title: path, standfirst: '', path, kicker: '', byline: '', minutes: 1 }));
      const letter = { letter: 'Morning Sun', slug: 'morning', day: 'today', unsubscribe: 'https://sun.example/u' };
      const alert = starts === undefined ? undefined : { id: to, starts };
      await opened?.outbox.enqueue(tx, { kind: 'newsletter', to, minutes: 60, stories, alert, ...letter });
    });
  await write('ada@example.com', ['/article/goes', '/article/stays', '/article/moves', '/article/unknown']);
  await write('ben@example.com', ['/article/goes']);
  const minuteAgo = new Date(Date.now() - 60_000).toISOString();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const shown = { id: 'cleo@example.com', text: 'x', href: null, starts: minuteAgo, until, mail: true, push: false };
  store.setMeta('alert', JSON.stringify(shown));
  await write('cleo@example.com', ['/'], minuteAgo);
  // Withdrawn after the mail was written.
  await write('dora@example.com', ['/'], minuteAgo);
  // Another node may have shown an alert that this one doesn't know yet.
  await write('emil@example.com', ['/'], new Date().toISOString());
  withdrawDocument(store, 3, { at: 2, clock: 0 });
  put(2, 'moved', 2);
  opened?.start();
  const received = async () => {
    const { messages } = await (await fetch(`${mailbox.access.url}/api/messages`)).json();
    return (messages as { to: string[]; text: string }[]).map(({ to, text }) => ({ to: String(to), text }));
  };
  await vi.waitFor(async () => expect(await opened?.outbox.waiting()).toMatchObject({ count: 0 }));
  const messages = await received();
  expect(messages.map(({ to }) => to).toSorted()).toEqual(['ada@example.com', 'cleo@example.com', 'emil@example.com']);
  const text = messages.find(({ to }) => to === 'ada@example.com')?.text ?? '';
  const named = ['stays', 'moves', 'goes', 'unknown'].filter((slug) => text.includes(`/article/${slug}`));
  expect(named).toEqual(['stays', 'moves', 'unknown']);
});

describe('billing', () => {
  const stripe = {
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_PUBLISHABLE_KEY: 'pk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
    // No server listens at this address.
    STRIPE_API_URL: 'http://127.0.0.1:1',
  };

  it('is off when Stripe is not configured', async () => {
    const opened = await open(mail);
    expect(opened?.services.billing).toBeNull();
    expect(opened?.state().stripe).toBeNull();
  });

  it('answers 429 to purchases over the limit in ACCOUNT_LIMITS', async () => {
    const opened = await open({ ...mail, ...stripe, ACCOUNT_LIMITS: 'subscribe.address=1/600' });
    const session = { id: 's', userId: 'u', trackingId: 't', email, emailVerified: true };
    const body = { payment_method: 'pm_card_visa', product_id: 'none', plan_id: 'none' };
    const buy = () => opened?.services.billing?.subscribe(session, body, caller.address);
    expect(await buy()).toMatchObject({ ok: false, status: 400 });
    expect(await buy()).toMatchObject({ ok: false, status: 429 });
  });

  it('reports a test-mode key on a site that sold through a live account before', async () => {
    const opened = await open({ ...mail, ...stripe });
    expect(opened?.state().stripe).toEqual({ problem: null, wallets: null });
    const note = { key: 'stripe account', value: 'acct_1', at: 1 };
    await database?.db.insertInto('billing_notes').values(note).execute();
    opened?.start();
    const named = expect.stringMatching(/^STRIPE_SECRET_KEY is a test-mode key\. This site sells through acct_1/);
    await vi.waitFor(() => expect(opened?.state().stripe).toEqual({ problem: named, wallets: null }));
  });

  it('stops sending mail at once, though Stripe’s answer is still awaited', async () => {
    const opened = await open({ ...mail, ...stripe });
    if (!opened?.services.billing) throw new Error('Billing is off.');
    const answered = Promise.withResolvers<void>();
    vi.spyOn(opened.services.billing, 'stop').mockReturnValueOnce(answered.promise);
    const stopMail = vi.spyOn(opened.outbox, 'stop');
    const stopped = opened.stop();
    expect(stopMail).toHaveBeenCalledTimes(1);
    answered.resolve();
    await stopped;
  });

  it('starts while Stripe is down; its data is in a reader’s export and erased with the account', async () => {
    const opened = await open({ ...mail, ...stripe });
    if (!opened?.services.billing || !database) throw new Error('Billing is off.');
    const { accounts } = opened.services;
    const billing = opened.services.billing as RunningBilling;
    expect(billing.prices()).toEqual([]);
    await accounts.create(email, caller);
    const { id: userId } = await database.db.selectFrom('users').select('id').executeTakeFirstOrThrow();
    const session = { id: 's', userId, trackingId: 't', email, emailVerified: true };
    const shipping = {
      name: 'Ada',
      address: { line1: '1', city: 'New York', state: 'NY', postal_code: '10007', country: 'US' },
    };
    await billing.saveShipping(session, shipping);
    expect(await accounts.exportData(session)).toMatchObject({ billing: { shipping, purchases: [] } });
    // Data saved in between, from another tab, is deleted, too.
    const { erase } = billing.personalData;
    vi.spyOn(billing.personalData, 'erase').mockImplementationOnce(async (...user) => {
      await erase(...user);
      expect(await billing.saveShipping(session, shipping)).toMatchObject({ ok: true });
    });
    await accounts.forget(session, caller);
    expect(await billing.shipping(session)).toBeNull();
  });
});

it('deleting an account while comments are off queues the removal of the reader’s name from comments in WordPress', async () => {
  const opened = await open(mail);
  if (!opened || !database) throw new Error('Accounts are off.');
  const { accounts, comments } = opened.services;
  expect(comments).toBeNull();
  await accounts.create(email, caller);
  const { db } = database;
  const { id: userId } = await db.selectFrom('users').select('id').executeTakeFirstOrThrow();
  const words = { name: 'Ada', content: 'Well said.', draft: 'd', article_id: 7, parent_id: 0, wordpress_id: 31 };
  const times = { claimed: 0, created: 1, edited: null, checked: 1 };
  await db
    .insertInto('comment_posts')
    .values({ ...words, ...times, id: 'c', user_id: userId, state: 'published' })
    .execute();
  const session = { id: 's', userId, trackingId: 't', email, emailVerified: true };
  expect(await accounts.exportData(session)).toMatchObject({ comments: { written: [{ text: 'Well said.' }] } });
  await accounts.forget(session, caller);
  const jobs = await db.selectFrom('jobs').select('id').where('queue', '=', 'comments').execute();
  expect(jobs).toEqual([{ id: 'comments:erase:31' }]);
});
