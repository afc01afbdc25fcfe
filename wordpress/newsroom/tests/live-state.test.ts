/** The choice of the live state in the block editor: its script, with a stand-in for the editor's store. */
import fs from 'node:fs';
import path from 'node:path';
import { JSDOM } from 'jsdom';
import { expect, it } from 'vitest';

it('the box in the block editor saves each change of the state, however often the story is saved', () => {
  const { window } = new JSDOM(
    '<input type="hidden" name="newsroom_live_before" value=""><select name="newsroom_live"><option value=""><option value="live"></select>',
    { runScripts: 'outside-only' },
  );
  let isSavingMetaBoxes = false;
  let changed = () => {};
  Object.assign(window, {
    wp: {
      data: {
        select: () => ({ isSavingMetaBoxes: () => isSavingMetaBoxes }),
        subscribe: (listener: () => void) => {
          changed = listener;
        },
      },
    },
  });
  window.eval(fs.readFileSync(path.join(import.meta.dirname, '../assets/live-state.js'), 'utf8'));
  const before = window.document.querySelector<HTMLInputElement>('input');
  const choice = window.document.querySelector<HTMLSelectElement>('select');
  if (!before || !choice) throw new Error('The box has no fields.');
  const saving = (now: boolean) => {
    isSavingMetaBoxes = now;
    changed();
  };
  for (const state of ['live', '']) {
    choice.value = state;
    expect(before.value).not.toBe(state);
    saving(true);
    saving(false);
    expect(before.value).toBe(state);
  }
  // What the editor chooses while the form is being sent isn't saved yet.
  saving(true);
  choice.value = 'live';
  saving(false);
  expect(before.value).toBe('');
});
