/** Two nodes whose DATABASE_URL points to a pooler in transaction mode, and DATABASE_LISTEN_URL to PostgreSQL itself. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Mailbox, startMailbox } from '../../sandbox/mailbox/mailbox.ts';
import { type Answer, type Paper, siteUrl, startPaper, until } from '../fixtures/paper.ts';
import type { Json } from '../fixtures/wordpress.ts';
import { type Pooler, startPooler } from '../world/pooler.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';

/** What docs/operations.md says that the pooler has to ignore. */
const ignored = ['extra_float_digits', 'statement_timeout', 'idle_in_transaction_session_timeout'];

let cluster: SharedPostgres;
let pooler: Pooler;
let mailbox: Mailbox;
const papers: Paper[] = [];

beforeAll(async () => {
  cluster = await sharedPostgres();
  mailbox = await startMailbox();
  pooler = await startPooler({ poolSize: 3, ignored });
  const database = await cluster.database('without tables');
  const env = {
    DATABASE_URL: pooler.address(database),
    DATABASE_LISTEN_URL: database,
    ACCOUNTS_SECRET: 'the same secret on both nodes, long enough',
    SMTP_URL: mailbox.access.smtpUrl,
    MAIL_FROM: 'The Sun <news@paper.example>',
  };
  const first = await startPaper(env);
  papers.push(first);
  papers.push(await startPaper({ ...env, WORDPRESS_URL: first.wordpressUrl }));
  for (const paper of papers) await until(() => paper.output().includes('The important pages are ready'), paper.output);
});
afterAll(async () => {
  await Promise.all(papers.map((paper) => paper.close()));
  pooler?.close();
  await mailbox?.stop();
  await cluster?.removeDatabases();
});

const nodes = (): [Paper, Paper] => papers as [Paper, Paper];

it('a publish and a withdrawal reach both nodes behind the pooler, whichever node receives the webhook', async () => {
  const [first] = nodes();
  /** WordPress sends a webhook again until it is answered with 200. */
  const deliver = (receiver: Paper, hook?: Json) =>
    until(async () => (await receiver.deliver(hook)).status === 200, receiver.output);
  for (const [at, receiver] of papers.entries()) {
    first.edit(1, { title: { rendered: `Through the pooler, ${at}` } });
    await deliver(receiver);
    for (const paper of papers)
      await until(
        async () => (await paper.ask('/article/story-1')).text.includes(`Through the pooler, ${at}`),
        paper.output,
      );
    const id = 2 + at;
    first.edit(id, { status: 'draft' });
    const hook = { event: 'unpublish', id, slug: `story-${id}`, status: 'draft' };
    await deliver(receiver, hook);
    for (const paper of papers) expect((await paper.ask(`/article/story-${id}`)).status).toBe(410);
  }
});

it('a reader asks one node for a sign-in link and signs in on the other node', async () => {
  const [first, second] = nodes();
  const email = 'ada@example.com';
  const sent = await post(first, '/blaize/token-exchange', 'application/json', {
    body: JSON.stringify({ identifiers: { email_address: email }, action: 'register' }),
  });
  expect(sent.status).toBe(201);
  let token = '';
  await until(async () => {
    const answer = await fetch(`${mailbox.access.url}/api/messages`);
    const { messages } = (await answer.json()) as { messages: { links: string[] }[] };
    const links = messages.flatMap(({ links }) => links);
    token = links.map((link) => new URL(link).searchParams.get('token')).find((each) => each !== null) ?? '';
    return token !== '';
  }, first.output);
  const signedIn = await post(second, '/account/link', 'application/x-www-form-urlencoded', {
    body: new URLSearchParams({ token }).toString(),
  });
  expect(signedIn.status).toBe(303);
  const cookie = (signedIn.headers['set-cookie'] ?? []).map((each) => each.split(';')[0]).join('; ');
  for (const paper of papers) {
    const account = await paper.ask('/blaize/account', { headers: { cookie } });
    expect([account.status, account.text]).toEqual([200, expect.stringContaining(email)]);
  }
});

it('the nodes use no session feature that the transaction pooler refuses, and log no error', () => {
  expect(pooler.refused).toEqual([]);
  // At most three connections to PostgreSQL for the pools of both nodes.
  expect(pooler.counts.mostServers).toBeLessThanOrEqual(3);
  expect(pooler.counts.mostClients).toBeGreaterThan(2);
  expect(pooler.counts.transactions).toBeGreaterThan(100);
  for (const paper of papers) expect(paper.output()).not.toMatch(/"level":"error"/);
});

function post(paper: Paper, path: string, type: string, { body }: { body: string }): Promise<Answer> {
  return paper.ask(path, { method: 'POST', body, headers: { 'content-type': type, origin: siteUrl } });
}
