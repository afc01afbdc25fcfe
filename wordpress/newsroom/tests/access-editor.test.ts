/** The access choice in the block editor, with a stand-in for the editor's store. */
import fs from 'node:fs';
import path from 'node:path';
import { JSDOM } from 'jsdom';
import { expect, it } from 'vitest';

const script = fs.readFileSync(path.join(import.meta.dirname, '../assets/access.js'), 'utf8');
type Meta = Record<string, unknown>;

/** An editor with the box, whose stored level is `level`. */
function openEditor(level: string) {
  const radios = ['default', 'free', 'subscriber']
    .map((value) => `<input type="radio" name="newsroom_access" value="${value}"${value === level ? ' checked' : ''}>`)
    .join('');
  const { window } = new JSDOM(radios, { runScripts: 'outside-only' });
  let meta: Meta = { newsroom_access: level, newsroom_agency: 'A Wire' };
  const listeners: (() => void)[] = [];
  const editPost = (edits: { meta: Meta }) => {
    meta = edits.meta;
    for (const listener of listeners) listener();
  };
  Object.assign(window, {
    CSS: { escape: (text: string) => text },
    wp: {
      data: {
        select: () => ({ getEditedPostAttribute: () => meta }),
        dispatch: () => ({ editPost }),
        subscribe: (listener: () => void) => listeners.push(listener),
      },
    },
  });
  window.eval(script);
  const radio = (value: string) => window.document.querySelector<HTMLInputElement>(`[value="${value}"]`);
  return {
    editPost,
    meta: () => meta,
    choose: (value: string) => radio(value)?.click(),
    chosen: () => window.document.querySelector<HTMLInputElement>(':checked')?.value,
  };
}

it('choosing an access level in the block editor edits the story’s meta, so that it is saved with the story', () => {
  const editor = openEditor('default');
  editor.choose('subscriber');
  expect(editor.meta()).toEqual({ newsroom_access: 'subscriber', newsroom_agency: 'A Wire' });
  expect(editor.chosen()).toBe('subscriber');
});

it('the access box in the block editor follows undo and a restored version', () => {
  const editor = openEditor('default');
  editor.choose('subscriber');
  editor.editPost({ meta: { newsroom_access: 'default' } });
  expect(editor.chosen()).toBe('default');
  editor.editPost({ meta: { newsroom_access: 'free' } });
  expect(editor.chosen()).toBe('free');
});
