/**
 * The whole site while the machine's clock is changed: a day forward, an hour back, to the moment before midnight in New York.
 * Only JavaScript's clock jumps here (fixtures/clock.ts); SQLite and the kernel keep the true time, but the site doesn't ask
 * them for it.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { mastheadDay } from '../../src/lib/dates.ts';
import { dayInZone } from '../../src/lib/day-in-zone.ts';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { accessKey, type Paper, ready, startPaper, story, until } from '../fixtures/paper.ts';
import type { Meter, SetClock } from './fixtures/clock.ts';

const nodeArgs = ['--import', fileURLToPath(new URL('./fixtures/clock.ts', import.meta.url))];
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

let paper: Paper;
let shift = 0;
let questions = 0;
afterEach(async () => {
  shift = 0;
  await paper?.close();
});

const siteNow = (): number => Date.now() + shift;
/** Signed by a WordPress whose clock agrees with the site's. */
const deliver: Paper['deliver'] = (hook, change) =>
  paper.deliver(hook, { timestamp: Math.floor(siteNow() / 1000), ...change });

/** Sets the clocks of the site and of WordPress. @returns the site's resource use so far */
async function setClock(shiftMs: number): Promise<Meter> {
  shift = shiftMs;
  paper.wordpress.clockAhead = shiftMs / 1000;
  const site = paper.site();
  if (!site) throw new Error('There is no site.');
  const question = ++questions;
  site.send({ shiftMs, question } satisfies SetClock);
  for (;;) {
    const [meter] = (await once(site, 'message')) as [Meter];
    if (meter.question === question) return meter;
  }
}

/** The site's resource use during a second: a share of a core, and requests to WordPress. */
async function useOfASecond(): Promise<{ core: number; requests: number }> {
  const before = await setClock(shift);
  const asked = paper.wordpress.requests.length;
  await pause(1000);
  const after = await setClock(shift);
  const seconds = (after.steadyMs - before.steadyMs) / 1000;
  return {
    core: (after.busyMs - before.busyMs) / 1000 / seconds,
    requests: (paper.wordpress.requests.length - asked) / seconds,
  };
}

/**
 * The site comes to rest after the work that the new time requires; a site in a loop takes a whole core forever, or sends
 * endless requests to WordPress. One poll sends about fifteen requests, one round of the slow walk a few more.
 */
async function expectRest(): Promise<void> {
  let use = await useOfASecond();
  for (let seconds = 1; seconds < 20 && (use.core >= 0.5 || use.requests >= 60); seconds++) use = await useOfASecond();
  expect(use.core).toBeLessThan(0.5);
  expect(use.requests).toBeLessThan(60);
}

async function expectAges(): Promise<void> {
  for (const path of ['/', '/latest', '/section/politics', '/article/story-1', '/article/story-9', '/rss.xml']) {
    const { status, headers } = await paper.ask(path);
    expect([path, status, headers.age]).toEqual([path, 200, expect.stringMatching(/^\d+$/)]);
  }
}

/** The next midnight in New York. */
function nextMidnight(): number {
  let at = Math.ceil(Date.now() / minute) * minute;
  while (dayInZone(at) === dayInZone(Date.now())) at += minute;
  return at;
}

it('the masthead’s day, and no article, changes at midnight in New York, and back with the clock', async () => {
  paper = await startPaper({}, { nodeArgs });
  await ready(paper);
  const midnight = nextMidnight();
  const [today, tomorrow] = [mastheadDay(midnight - 1), mastheadDay(midnight)];
  const home = async (): Promise<string> => (await paper.ask('/')).text;
  await setClock(midnight - 10 * minute - Date.now());
  expect(await home()).toContain(today);
  const { headers: before } = await paper.ask('/article/story-1');
  const renders = await paper.metric('broadsheet_renders_total');

  await setClock(midnight - 1000 - Date.now());
  // The page must change within a minute.
  await until(async () => (await home()).includes(tomorrow), paper.output, minute);
  expect(await home()).not.toContain(today);
  expect((await paper.ask('/')).headers['server-timing']).toBe('press;desc="hit"');
  expect((await paper.ask('/article/story-1')).headers.etag).toBe(before.etag);
  // Home, and at most the other pages that show the day.
  expect((await paper.metric('broadsheet_renders_total')) - renders).toBeLessThanOrEqual(3);
  await expectAges();

  await setClock(midnight - hour - Date.now());
  await until(async () => (await home()).includes(today), paper.output, minute);
  await expectAges();
  // More than a day at once, as after the machine slept.
  await setClock(midnight + 2 * day - Date.now());
  await until(async () => (await home()).includes(mastheadDay(midnight + 2 * day)), paper.output, minute);
  await expectRest();
});

it('webhooks, cookies and withdrawals are judged by the current clock after it is set forward or back', async () => {
  paper = await startPaper({}, { nodeArgs });
  await ready(paper);
  const access = createAccessCookie({ name: 'access', keys: [accessKey] });
  const cookie = `access=${access.sign('subscriber', (Date.now() + hour) / 1000)}`;
  const whole = async (): Promise<boolean> =>
    (await paper.ask('/article/story-9', { headers: { cookie } })).text.includes('ENDING-9');
  const publish = async (text: string): Promise<void> => {
    paper.edit(1, { title: { rendered: text } });
    expect((await deliver({ id: 1 })).status).toBe(200);
    for (const path of ['/', '/article/story-1']) expect((await paper.ask(path)).text).toContain(text);
  };
  expect(await whole()).toBe(true);
  await publish('Before the clock was set');

  await setClock(day);
  const early = Math.floor(Date.now() / 1000);
  paper.edit(1, { title: { rendered: 'Told with an old stamp' } });
  expect((await deliver({ id: 1 }, { timestamp: early })).status).toBe(412);
  expect((await paper.ask('/article/story-1')).text).toContain('Before the clock was set');
  expect(await whole()).toBe(false);
  await publish('A day later');
  const delivery = 'delivery-of-tomorrow';
  expect((await deliver({ id: 2 }, { delivery })).status).toBe(200);
  await expectAges();

  await setClock(-hour);
  expect((await deliver({ id: 1 }, { timestamp: Math.floor((Date.now() + day) / 1000) })).status).toBe(412);
  // A delivery isn't accepted twice, even if it was accepted in the future.
  expect((await deliver({ id: 2 }, { delivery })).status).toBe(409);
  expect(await whole()).toBe(true);
  await expectAges();
  await publish('An hour back');
  await expectAges();
  await expectRest();

  // The first process's records have later times than this process has seen.
  await paper.kill('SIGTERM');
  await paper.start({ nodeArgs, env: { CLOCK_SHIFT_MS: String(-hour) } });
  await publish('After a start an hour back');
  paper.edit(2, { status: 'draft' });
  expect((await deliver({ id: 2, slug: 'story-2', event: 'unpublish', status: 'draft' })).status).toBe(200);
  expect((await paper.ask('/article/story-2')).status).toBe(410);
  expect((await paper.ask('/latest')).text).not.toContain('/article/story-2"');
  paper.edit(2, { status: 'publish', modified: '2026-11-01T00:00:00', modified_gmt: '2026-11-01T00:00:00' });
  expect((await deliver({ id: 2, slug: 'story-2', event: 'publish' })).status).toBe(200);
  expect((await paper.ask('/article/story-2')).status).toBe(200);
});

it('scheduled stories appear at their time after the clock is set forward or back', async () => {
  paper = await startPaper({ SYNC_POLL_SECONDS: '1' }, { nodeArgs });
  await ready(paper);
  /** WordPress publishes it by its clock, without a modification or a webhook. */
  const scheduled = (id: number, at: number) => {
    const date = new Date(at).toISOString().slice(0, 19);
    return {
      ...story(id, { date_gmt: date, date, title: { rendered: `On time ${id}` } }),
      modified_gmt: '2026-11-01T00:00:00',
    };
  };
  const home = async (): Promise<string> => (await paper.ask('/')).text;
  const at = Date.now() + 20 * hour;
  paper.wordpress.put('articles', { ...scheduled(20, at), status: 'future' });
  await setClock(day);
  paper.wordpress.put('articles', scheduled(20, at));
  await until(async () => (await home()).includes('On time 20'), paper.output, minute);
  expect((await paper.ask('/')).headers['server-timing']).toBe('press;desc="hit"');
  await expectRest();

  await setClock(-hour);
  paper.wordpress.put('articles', scheduled(21, siteNow() - minute));
  await until(async () => (await paper.ask('/latest')).text.includes('On time 21'), paper.output, minute);
  await expectAges();
  await expectRest();
});
