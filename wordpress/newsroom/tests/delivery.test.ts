// @vitest-environment jsdom
/** The script that follows a delivery after a save in the block editor. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runScripts } from './editor-script.ts';

interface Answer {
  readonly delivery: string | null;
  readonly state: string | null;
  readonly message: string;
}

let asked = 0;
let notices: unknown[];
beforeEach(() => {
  vi.useFakeTimers();
  asked = 0;
  notices = [];
  document.body.className = 'block-editor-page';
  document.body.innerHTML = '<p data-newsroom-delivery="7" data-last="before"></p>';
});
afterEach(() => {
  vi.useRealTimers();
  document.body.className = '';
  document.body.replaceChildren();
});

/** Saves once, and passes the ten minutes for which the script asks at most. @param answer to the given request, from 1 */
async function save(answer: (request: number) => Answer): Promise<void> {
  let isSaving = false;
  let changed = (): void => {};
  const editor = { isSavingPost: () => isSaving, isAutosavingPost: () => false };
  runScripts(['delivery.js'], {
    apiFetch: async () => answer(++asked),
    data: {
      select: (store: string) => (store === 'core/editor' ? editor : undefined),
      subscribe: (listener: () => void) => {
        changed = listener;
      },
      dispatch: () => ({ createNotice: (...notice: unknown[]) => notices.push(notice) }),
    },
  });
  for (const saving of [true, false]) {
    isSaving = saving;
    changed();
  }
  await vi.advanceTimersByTimeAsync(15 * 60_000);
}

it.each([
  ['a draft, which was never sent', { delivery: null, state: null, message: '' }],
  ['a story in which nothing changed', { delivery: 'before', state: 'done', message: '' }],
])('stops asking a few seconds after the save of %s', async (_, answer) => {
  await save(() => answer);
  expect([asked, notices]).toEqual([8, []]);
});

it('follows a delivery that waits until the site has it', async () => {
  const waiting = { delivery: 'new', state: 'pending', message: 'Sending to the site…' };
  await save((request) => (request < 20 ? waiting : { delivery: 'new', state: 'done', message: 'Live on the site.' }));
  expect([asked, notices.length]).toEqual([20, 1]);
  expect(document.body.textContent).toBe('Live on the site.');
});

it('stops asking after 80 requests if the site doesn’t respond', async () => {
  await save(() => ({ delivery: 'new', state: 'pending', message: 'Sending to the site…' }));
  expect(asked).toBe(80);
});
