/** A front on real processes: rendered once, at its scheduled times, on serving workers and two nodes, and after `kill -9`. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Paper, ready, startPaper, until } from '../fixtures/paper.ts';
import { type Json, wirePost } from '../fixtures/wordpress.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';

const slot = (story: number, part: Json = {}): Json => ({ kind: 'second', story, ...part });
const inSeconds = (seconds: number): string => `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19)}Z`;
const hook = (event = 'update') => ({ event, type: 'fronts', id: 900, slug: 'home' });

let modified = Date.parse('2026-11-20T12:00:00Z');
const nextSecond = (): number => {
  modified += 1000;
  return modified;
};
/** Publishes a front in WordPress; the site isn't told yet. @param published epoch milliseconds */
function put({ wordpress }: Paper, slots: Json[], part: Json = {}, published = nextSecond()): void {
  const at = new Date(published).toISOString().slice(0, 19);
  wordpress.put('fronts', {
    ...wirePost({ id: 900, slug: 'home', front: { slots, next: null, ...part } }),
    modified_gmt: at,
    modified: at,
    id: 900,
  });
}
const lead = (html: string): string => /<article class="lead[\s\S]*?<a class="cover[^>]*>([^<]*)/.exec(html)?.[1] ?? '';
const leadOf = async (paper: Paper) => lead((await paper.ask('/')).text);
const leads = (paper: Paper, words: string) => until(async () => (await leadOf(paper)) === words, paper.output);

/**
 * Publishes what changes at a time a few seconds from now, and looks at it before that time: on a busy machine again, with more time.
 *
 * @param work publishes, and returns what it saw
 */
async function inTime<Seen>(seconds: number, work: (at: string) => Promise<Seen>): Promise<Seen> {
  for (let wait = seconds; ; wait *= 2) {
    const at = inSeconds(wait);
    const seen = await work(at);
    if (Date.now() < Date.parse(at)) return seen;
  }
}

describe('a front on one process', () => {
  let paper: Paper;
  beforeAll(async () => {
    paper = await startPaper();
    await ready(paper);
  });
  afterAll(() => paper?.close());

  it('costs one fetch and one render of its page, even when webhooks come twice and out of order', async () => {
    const before = (await paper.ask('/')).text;
    const renders = await paper.metric('broadsheet_renders_total');
    put(paper, [slot(3, { kind: 'lead', headline: 'For this place' }), slot(4)]);
    paper.wordpress.requests.length = 0;
    const answer = await paper.deliver(hook('publish'));
    expect(JSON.parse(answer.text)).toMatchObject({ ok: true, refreshed: ['/'] });
    expect(await leadOf(paper)).toBe('For this place');
    expect(paper.wordpress.requests).toEqual(['/wp/v2/fronts/900']);
    expect((await paper.metric('broadsheet_renders_total')) - renders).toBe(1);
    const delivery = randomUUID();
    const again = await Promise.all([
      paper.deliver(hook(), { delivery }),
      paper.deliver(hook(), { delivery }),
      paper.deliver(hook('publish')),
    ]);
    expect(again.some(({ status }) => status === 200)).toBe(true);
    expect((await paper.metric('broadsheet_renders_total')) - renders).toBe(1);
    expect((await paper.ask('/article/story-3')).text).not.toContain('For this place');
    // With nothing placed, the page is byte for byte as before.
    put(paper, []);
    await paper.deliver(hook());
    expect((await paper.ask('/')).text).toBe(before);
  });

  it('changes at a slot’s end time without a request, with one render', async () => {
    const { shown, renders } = await inTime(4, async (at) => {
      put(paper, [slot(2, { kind: 'lead', until: at }), slot(5, { kind: 'lead' })]);
      await paper.deliver(hook());
      return { shown: await leadOf(paper), renders: await paper.metric('broadsheet_renders_total') };
    });
    expect(shown).toBe('Story 2');
    await until(async () => (await paper.metric('broadsheet_renders_total')) > renders, paper.output);
    await leads(paper, 'Story 5');
    expect((await paper.metric('broadsheet_renders_total')) - renders).toBe(1);
  });

  it('is rendered once at its scheduled time, and not again when WordPress publishes it', async () => {
    const slots = [slot(6, { kind: 'lead' }), slot(3)];
    const renders = await inTime(4, async (at) => {
      put(paper, [slot(5, { kind: 'lead' })], { next: { at, slots } });
      const scheduled = JSON.parse((await paper.deliver(hook())).text);
      expect(scheduled).toMatchObject({ ok: true });
      return paper.metric('broadsheet_renders_total');
    });
    await leads(paper, 'Story 6');
    const shown = (await paper.ask('/')).headers.etag;
    put(paper, slots, {}, Date.now());
    expect((await paper.deliver(hook())).status).toBe(200);
    expect(JSON.parse((await paper.deliver(hook())).text)).toMatchObject({ ok: true });
    expect((await paper.ask('/')).headers.etag).toBe(shown);
    expect((await paper.metric('broadsheet_renders_total')) - renders).toBe(1);
    put(paper, [slot(4, { kind: 'lead' })]);
    await paper.deliver(hook());
    expect(await leadOf(paper)).toBe('Story 4');
    expect((await paper.metric('broadsheet_renders_total')) - renders).toBe(2);
  });

  it('appears at its scheduled time after kill -9, and is still there after another kill -9', async () => {
    put(paper, [slot(5, { kind: 'lead' })], { next: { at: inSeconds(3), slots: [slot(6, { kind: 'lead' })] } });
    await paper.deliver(hook());
    await paper.kill('SIGKILL');
    await paper.start();
    await leads(paper, 'Story 6');
    await paper.kill('SIGKILL');
    await paper.start();
    expect(await leadOf(paper)).toBe('Story 6');
  });

  it('does not show a withdrawn story in its place, and causes no error', async () => {
    put(paper, [slot(7, { kind: 'lead' }), slot(4711)]);
    await paper.deliver(hook());
    expect(await leadOf(paper)).toBe('Story 7');
    paper.wordpress.remove('articles', 7);
    await paper.deliver({ event: 'trash', type: 'articles', id: 7, slug: 'story-7', status: 'trash' });
    const answer = await paper.ask('/');
    expect([answer.status, lead(answer.text)]).not.toEqual([200, 'Story 7']);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('Story 7<');
  });
});

describe('a front on two nodes', () => {
  let cluster: SharedPostgres;
  const papers: Paper[] = [];
  beforeAll(async () => {
    cluster = await sharedPostgres();
    const env = {
      DATABASE_URL: await cluster.database('without tables'),
      ACCOUNTS_SECRET: 'a secret that both nodes have, long enough',
    };
    const newsroom = await startPaper(env);
    papers.push(newsroom, await startPaper({ ...env, WORDPRESS_URL: newsroom.wordpressUrl }));
  });
  afterAll(async () => {
    await Promise.all(papers.map((paper) => paper.close()));
    await cluster?.removeDatabases();
  });

  it('is fetched once, and each scheduled change is rendered once for both', async () => {
    const [first, second] = papers as [Paper, Paper];
    await ready(...papers);
    const counts = async (): Promise<{ all: number; alone: number }> => {
      const sum = async (name: string) => {
        const [one, other] = await Promise.all(papers.map((paper) => paper.metric(`broadsheet_${name}_total`)));
        return Number(one) + Number(other);
      };
      return { all: await sum('renders'), alone: await sum('pages_alone') };
    };
    const expectOneSince = async (start: { all: number; alone: number }): Promise<void> => {
      const { all, alone } = await counts();
      expect(all - start.all).toBeGreaterThanOrEqual(1);
      // On a very busy machine, a node that waits too long for PostgreSQL renders by itself.
      expect(all - start.all).toBeLessThanOrEqual(1 + alone - start.alone);
    };
    const haveLead = async (words: string) => (await Promise.all(papers.map(leadOf))).every((one) => one === words);
    const { fetched, start } = await inTime(8, async (at) => {
      put(first, [slot(2, { kind: 'lead', until: at }), slot(5, { kind: 'lead' })]);
      first.wordpress.requests.length = 0;
      expect((await second.deliver(hook('publish'))).status).toBe(200);
      await until(async () => (await haveLead('Story 2')) || Date.now() >= Date.parse(at), second.output);
      return { fetched: first.wordpress.requests.filter((each) => each.includes('fronts')), start: await counts() };
    });
    expect(fetched).toEqual(['/wp/v2/fronts/900']);
    for (const paper of papers) await leads(paper, 'Story 5');
    await expectOneSince(start);
    // A scheduled front is rendered once for both nodes, and not again when WordPress has published it.
    const slots = [slot(6, { kind: 'lead' })];
    const scheduled = await inTime(8, async (at) => {
      put(first, [slot(5, { kind: 'lead' })], { next: { at, slots } });
      await second.deliver(hook());
      return counts();
    });
    for (const paper of papers) await leads(paper, 'Story 6');
    put(first, slots, {}, Date.now());
    expect((await second.deliver(hook())).status).toBe(200);
    for (const paper of papers) expect(await leadOf(paper)).toBe('Story 6');
    await expectOneSince(scheduled);
  });
});
