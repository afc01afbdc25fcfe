// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { UntoldAnswer } from '../lib/corrections/model.ts';

const until = '2026-11-25T13:00:00.000Z';
const stories = [{ id: 7, slug: 'a-mule', title: 'A <b>Mule</b>' }];
let posted: unknown[];
let questions: number;

beforeEach(() => {
  posted = [];
  questions = 0;
  vi.useFakeTimers();
  sessionStorage.clear();
  document.body.innerHTML = '<main></main>';
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page with the script, which asks at once. */
async function visit(answer: UntoldAnswer | number): Promise<HTMLElement | null> {
  vi.stubGlobal('fetch', async (_url: string, init?: RequestInit) => {
    if (init?.method === 'POST') posted.push(JSON.parse(String(init.body)));
    else questions++;
    return typeof answer === 'number' ? new Response('', { status: answer }) : Response.json(answer);
  });
  vi.resetModules();
  await import('./corrections.ts');
  await vi.advanceTimersByTimeAsync(0);
  return document.querySelector<HTMLElement>('.correction-notice');
}

it('names the story as text, links to its notes, and counts as told after some seconds', async () => {
  const notice = await visit({ stories, until });
  const link = notice?.querySelector('a');
  expect([link?.textContent, link?.getAttribute('href')]).toEqual(['A <b>Mule</b>', '/article/a-mule#corrections']);
  expect(notice?.querySelector('[role="status"]')?.textContent).toContain('A story you read was corrected');
  await vi.advanceTimersByTimeAsync(7000);
  expect(posted).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(posted).toEqual([{ until }]);
  // The notice itself stays until it is dismissed, and tells nothing twice.
  notice?.querySelector('button')?.click();
  expect([document.querySelector('.correction-notice'), posted.length]).toEqual([null, 1]);
});

it('is told at once when it is dismissed, and asked for no more in this visit', async () => {
  (await visit({ stories, until }))?.querySelector('button')?.click();
  expect(posted).toEqual([{ until }]);
  expect(await visit({ stories, until })).toBeNull();
  expect(questions).toBe(1);
});

it('of a page that was left early stays untold', async () => {
  await visit({ stories, until });
  document.body.innerHTML = '';
  expect(await visit({ stories, until })).not.toBeNull();
  expect(posted).toEqual([]);
});

it.each([{ stories: [], until: null }, 401, 503] as const)('shows nothing for %j', async (answer) => {
  expect(await visit(answer as UntoldAnswer | number)).toBeNull();
  expect(posted).toEqual([]);
});
