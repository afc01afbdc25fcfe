/** Traces of the built site at a collector, while the collector works, is silent, or is gone. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Mailbox, startMailbox } from '../../sandbox/mailbox/mailbox.ts';
import { type Paper, siteUrl, startPaper, until } from '../fixtures/paper.ts';
import { type CollectedSpan, type Collector, startCollector } from '../world/collector.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';

let collector: Collector;
let cluster: SharedPostgres;
let mailbox: Mailbox;
let paper: Paper;

beforeAll(async () => {
  collector = await startCollector();
  mailbox = await startMailbox();
  cluster = await sharedPostgres();
  paper = await startPaper({
    DATABASE_URL: await cluster.database('without tables'),
    SMTP_URL: mailbox.access.smtpUrl,
    MAIL_FROM: 'The Sun <news@paper.example>',
    ACCOUNTS_SECRET: 'a secret of the accounts that is long enough',
    TRUSTED_PROXIES: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=the%20key',
    OTEL_SERVICE_NAME: 'the-sun',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,zone=a%2Cb',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  await until(() => paper.output().includes('The important pages are ready'), paper.output);
});
afterAll(async () => {
  await paper?.close();
  collector?.close();
  await mailbox?.stop();
  await cluster?.removeDatabases();
});

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** Sends a request with its own trace. @returns the spans of that trace, once `name` is among them */
async function spansOf(
  name: string,
  ask: (headers: Record<string, string>) => Promise<unknown>,
): Promise<CollectedSpan[]> {
  const traceId = hex(16);
  await ask({ traceparent: `00-${traceId}-${hex(8)}-01` });
  const found = (): CollectedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
  await until(
    () => found().some((span) => span.name === name),
    () => JSON.stringify(found(), null, 1),
  );
  return found();
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan =>
  spans.find((span) => span.name === name) as CollectedSpan;

it('the site exports a span for each request: cached pages, rendered pages and errors', async () => {
  const cached = await spansOf('GET /article/{name}', (headers) => paper.ask('/article/story-1?utm=x', { headers }));
  expect(named(cached, 'GET /article/{name}')).toMatchObject({
    kind: 2,
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/article/{name}',
      'http.response.status_code': 200,
      'broadsheet.kind': 'page',
      'broadsheet.cache': 'hit',
    },
    resource: { 'service.name': 'the-sun', 'deployment.environment.name': 'test', zone: 'a,b' },
  });
  const comments = 'GET /article/{name}/comments';
  const missed = await spansOf(comments, (headers) => paper.ask('/article/story-2/comments', { headers }));
  expect(named(missed, comments).attributes).toMatchObject({
    'http.response.status_code': 200,
    'broadsheet.cache': 'miss',
  });
  const unknown = await spansOf('GET', (headers) => paper.ask('/ada@example.com', { headers }));
  expect(named(unknown, 'GET').attributes).toMatchObject({ 'http.response.status_code': 404 });
  expect(collector.headers[0]?.['x-key']).toBe('the key');
});

it('one trace joins webhook, fetch from WordPress and content log append; each node’s apply names its revision', async () => {
  paper.edit(1, { title: { rendered: 'Traced' } });
  const at = collector.spans.length;
  const answer = await paper.deliver();
  expect(answer.status).toBe(200);
  const since = (): CollectedSpan[] => collector.spans.slice(at);
  /** The spans of the webhook's trace: changes that the site finds itself have other traces. */
  const joined = (): CollectedSpan[] => {
    const hook = since().find(({ name }) => name === 'webhook');
    return since().filter(({ traceId }) => traceId === hook?.traceId);
  };
  const isFetch = ({ kind, attributes }: CollectedSpan): boolean =>
    kind === 3 && String(attributes['url.template']).includes('/wp/v2/articles');
  const names = ['POST /api/v1/revalidate', 'webhook', 'content log append'];
  await until(
    () => names.every((name) => joined().some((span) => span.name === name)) && joined().some(isFetch),
    () => JSON.stringify(since().map(({ name, traceId }) => `${traceId} ${name}`)),
  );
  const [request, webhook, append] = names.map((name) => named(joined(), name));
  const fetched = joined().find(isFetch);
  expect([webhook, fetched, append].map((span) => span?.parentSpanId)).toEqual([
    request?.spanId,
    webhook?.spanId,
    webhook?.spanId,
  ]);
  expect(webhook?.attributes).toEqual({ 'broadsheet.webhook.status': 200 });
  expect(fetched?.attributes).toMatchObject({
    'url.template': '/wp-json/wp/v2/articles/{id}',
    'http.response.status_code': 200,
  });
  // A node applies what it reads from the log, perhaps of several appends at once.
  const revision = append?.attributes['broadsheet.revision'];
  expect(revision).toEqual(expect.any(Number));
  const isApply = ({ name, attributes }: CollectedSpan): boolean =>
    name === 'content log apply' && Number(attributes['broadsheet.revision']) >= Number(revision);
  const isRender = ({ name, attributes }: CollectedSpan): boolean =>
    name === 'render' && attributes['http.route'] === '/article/{name}';
  await until(
    () => [isApply, isRender].every((fits) => since().some(fits)),
    () => JSON.stringify(since().map(({ name, attributes }) => [name, attributes])),
  );
});

it('traces record jobs, mail and queries, but no personal data', async () => {
  const body = JSON.stringify({ identifiers: { email_address: 'lovelace@readers.example' }, action: 'register' });
  const headers = {
    'content-type': 'application/json',
    origin: siteUrl,
    cookie: 'visitor=secret-cookie',
    'x-forwarded-for': '203.0.113.7',
  };
  const sent = await spansOf('POST /blaize/token-exchange', (more) =>
    paper.ask('/blaize/token-exchange?email=lovelace@readers.example', {
      method: 'POST',
      body,
      headers: { ...headers, ...more },
    }),
  );
  // The job ends after its mail, and may be exported with the next batch.
  for (const part of ['smtp send', 'mail job'])
    await until(() => collector.spans.some(({ name }) => name === part), paper.output);
  const request = named(sent, 'POST /blaize/token-exchange');
  expect(request.attributes).toMatchObject({ 'http.response.status_code': 201, 'broadsheet.kind': 'api' });
  expect(request.attributes['broadsheet.request_id']).toMatch(/^[\w-]{8,64}$/);
  expect(
    sent.some(({ name, attributes }) => name === 'db INSERT' && attributes['db.operation.name'] === 'INSERT'),
  ).toBe(true);
  const all = JSON.stringify(collector.spans);
  for (const personal of ['lovelace', 'readers.example', 'secret-cookie', '203.0.113', 'utm=', 'select '])
    expect(all).not.toContain(personal);
  expect(collector.refused).toEqual([]);
  // The exports themselves aren't traced.
  expect(all).not.toContain('/v1/traces');
});

it('an unresponsive trace collector does not slow pages, and the site stops within 15 seconds', async () => {
  const time = async (): Promise<number> => {
    const began = performance.now();
    for (let at = 0; at < 200; at++) expect((await paper.ask('/article/story-3')).status).toBe(200);
    return performance.now() - began;
  };
  const before = await time();
  for (const trouble of ['silent', 'broken'] as const) {
    collector.behave(trouble);
    // The machine's other work makes some rounds slow; waiting for the collector would make every round slow.
    const rounds: number[] = [];
    while (rounds.length < 10 && !rounds.some((took) => took < 3 * before + 1000)) rounds.push(await time());
    expect(Math.min(...rounds), trouble).toBeLessThan(3 * before + 1000);
  }
  await until(() => paper.output().includes("Traces don't reach the collector"), paper.output, 90_000);
  collector.behave('silent');
  await paper.ask('/article/story-3');
  const began = performance.now();
  await paper.kill('SIGTERM');
  expect(paper.site()?.exitCode).toBe(0);
  expect(performance.now() - began).toBeLessThan(15_000);
});

it('the site exports the remaining spans when it stops, as JSON if set, and obeys the sampler', async () => {
  collector.behave('well');
  const at = collector.spans.length;
  const env = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_BSP_SCHEDULE_DELAY: '60000',
  };
  await paper.start({ env });
  await paper.ask('/article/story-4');
  await paper.kill('SIGTERM');
  expect(collector.spans.slice(at).some(({ name }) => name === 'GET /article/{name}')).toBe(true);
  expect(collector.headers.at(-1)).toMatchObject({ 'content-type': 'application/json', 'content-encoding': 'gzip' });

  const then = collector.spans.length;
  await paper.start({ env: { ...env, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' } });
  await paper.ask('/article/story-4');
  await paper.ask('/article/story-5', { headers: { traceparent: `00-${hex(16)}-${hex(8)}-01` } });
  await paper.kill('SIGTERM');
  const requests = collector.spans.slice(then).filter(({ kind }) => kind === 2);
  expect(requests).toHaveLength(1);
  expect(collector.refused).toEqual([]);
});
