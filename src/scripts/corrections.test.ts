// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { correctionsId, seenPath, type UnseenAnswer } from '../lib/corrections/schema.ts';
import { showNotice } from './corrections.ts';

const until = '2026-11-25T13:00:00.000Z';
const stories = [{ id: 7, slug: 'a-mule', title: 'A <b>Mule</b>', kind: 'correction' as const }];
let posted: unknown[];
let asksAgain: boolean[];

beforeEach(() => {
  posted = [];
  asksAgain = [];
  vi.useFakeTimers();
  document.body.innerHTML = '<main></main>';
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page for a reader with unseen corrections. */
function visit(answer: UnseenAnswer): HTMLElement | null {
  vi.stubGlobal('fetch', async (_url: string, init?: RequestInit) => {
    posted.push(JSON.parse(String(init?.body)));
    return Response.json({});
  });
  showNotice(answer, { path: seenPath, anchor: correctionsId }, (may) => asksAgain.push(may));
  return document.querySelector<HTMLElement>('.correction-notice');
}

it('a correction notice names the story as plain text, links to its notes, and counts as read after some seconds', async () => {
  const notice = visit({ stories, until });
  const link = notice?.querySelector('a');
  expect([link?.textContent, link?.getAttribute('href')]).toEqual(['A <b>Mule</b>', '/article/a-mule#corrections']);
  expect(notice?.querySelector('[role="status"]')?.textContent).toContain('A story you read was corrected');
  await vi.advanceTimersByTimeAsync(7000);
  expect(posted).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(posted).toEqual([{ until }]);
  // The notice itself stays until it is dismissed, and reports nothing twice.
  notice?.querySelector('button')?.click();
  expect([document.querySelector('.correction-notice'), posted.length]).toEqual([null, 1]);
});

it('a correction notice says whether the stories were corrected or only clarified', () => {
  const clarified = { id: 8, slug: 'a-horse', title: 'A Horse', kind: 'clarification' as const };
  const heading = (...told: UnseenAnswer['stories']) => {
    document.body.innerHTML = '<main></main>';
    return visit({ stories: told, until })?.getAttribute('aria-label');
  };
  expect(heading(clarified)).toBe('A story you read was clarified');
  expect(heading(clarified, { ...clarified, id: 9 })).toBe('Stories you read were clarified');
  expect(heading(...stories, ...stories)).toBe('Stories you read were corrected');
  expect(heading(...stories, clarified)).toBe('Stories you read were corrected or clarified');
});

it('dismissing a correction notice with Escape records it at once, and pages stop asking for it', async () => {
  visit({ stories, until })
    ?.querySelector('button')
    ?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  expect([posted, asksAgain]).toEqual([[{ until }], [true, false]]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(posted).toHaveLength(1);
});

it('a correction notice on a page that is left early is not recorded, and the next page asks again', () => {
  expect(visit({ stories, until })).not.toBeNull();
  expect([posted, asksAgain]).toEqual([[], [true]]);
});

it('a correction notice is not shown over an open dialog, and the next page asks again', () => {
  document.body.innerHTML = '<dialog open></dialog>';
  expect(visit({ stories, until })).toBeNull();
  expect([posted, asksAgain]).toEqual([[], [true]]);
});

it('dismissing a correction notice returns the focus to the page', () => {
  document.body.innerHTML = '<main id="main" tabindex="-1"></main>';
  const dismiss = visit({ stories, until })?.querySelector('button');
  dismiss?.focus();
  dismiss?.click();
  expect(document.activeElement?.id).toBe('main');
});
