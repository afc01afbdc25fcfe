// @vitest-environment jsdom
/** The script of the panel "Byline", with a stand-in for the editor's store. */
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it, vi } from 'vitest';
import { runScripts, type } from './editor-script.ts';

it('a change in the panel "Byline" keeps the other fields, also those that aren’t saved yet', async () => {
  const meta = { newsroom_authors: [], newsroom_agency: '', newsroom_access: 'subscriber' };
  const edits: unknown[] = [];
  document.body.innerHTML = '<div id="panel"></div>';
  const plugins: (() => null)[] = [];
  Object.assign(window, {
    newsroomByline: { words: { agency: 'Agency' }, names: {}, inherited: [], acf: false, most: 5, longest: 100 },
  });
  const editor = { getEditedPostAttribute: () => meta };
  runScripts(['lists.js', 'panels.js', 'byline.js'], {
    data: {
      select: () => editor,
      useSelect: (read: (select: () => unknown) => unknown) => read(() => editor),
      useDispatch: () => ({ editPost: (edit: unknown) => edits.push(edit) }),
    },
    plugins: { registerPlugin: (_name: string, { render }: { render: () => null }) => plugins.push(render) },
  });
  const [panel] = plugins;
  if (!panel) throw new Error('The script has registered no panel.');
  createRoot(document.getElementById('panel') as HTMLElement).render(createElement(panel));
  await vi.waitFor(() => type('Agency', 'A Wire'));
  expect(edits).toEqual([{ meta: { ...meta, newsroom_agency: 'A Wire' } }]);
});
