/** The access choice in the block editor: its script, with a stand-in for the editor's store, and how WordPress saves what it chose. */
import fs from 'node:fs';
import path from 'node:path';
import { JSDOM } from 'jsdom';
import { expect, it } from 'vitest';
import { body } from './harness.ts';
import { newsroom, withNewsroom } from './opened.ts';

withNewsroom();

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

it('an access level that is chosen in the block editor is saved by the request that publishes the story', async () => {
  const editor = openEditor('default');
  editor.choose('subscriber');
  expect(editor.meta()).toEqual({ newsroom_access: 'subscriber', newsroom_agency: 'A Wire' });
  expect(editor.chosen()).toBe('subscriber');
  // As the editor sends a new story, before the form of the box.
  const { json } = await newsroom.rest('/wp/v2/articles', {
    as: 'editor',
    method: 'POST',
    body: { title: 'New', status: 'publish', content: body('unrevealed'), meta: editor.meta() },
  });
  const seen = await newsroom.rest(`/wp/v2/articles/${json.id}`);
  expect(seen.json).toMatchObject({ access: 'subscriber', restricted: true, byline: { agency: { name: 'A Wire' } } });
  expect(seen.text).not.toContain('unrevealed');
});

it('the access box in the block editor follows undo and a restored version', () => {
  const editor = openEditor('default');
  editor.choose('subscriber');
  editor.editPost({ meta: { newsroom_access: 'default' } });
  expect(editor.chosen()).toBe('default');
  editor.editPost({ meta: { newsroom_access: 'free' } });
  expect(editor.chosen()).toBe('free');
});
