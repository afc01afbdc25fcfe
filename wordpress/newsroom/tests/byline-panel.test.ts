// @vitest-environment jsdom
/** The script of the panel "Byline", with a stand-in for the editor's store. */
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it, vi } from 'vitest';
import { runScript, type } from './editor-script.ts';

it('a change in the panel "Byline" keeps the other fields, also those that aren’t saved yet', async () => {
  const meta = { newsroom_authors: [], newsroom_agency: '', newsroom_access: 'subscriber' };
  const edits: unknown[] = [];
  document.body.innerHTML = '<div id="panel"></div>';
  const panels: { Inside: () => null }[] = [];
  Object.assign(window, {
    newsroomPanels: { registerPanel: (panel: { Inside: () => null }) => panels.push(panel) },
    newsroomByline: { words: { agency: 'Agency' }, names: {}, inherited: [], acf: false, most: 5, longest: 100 },
  });
  const editor = { getEditedPostAttribute: () => meta };
  runScript('byline.js', {
    data: {
      useSelect: (read: (select: () => unknown) => unknown) => read(() => editor),
      useDispatch: () => ({ editPost: (edit: unknown) => edits.push(edit) }),
    },
  });
  const [panel] = panels;
  if (!panel) throw new Error('The script has registered no panel.');
  createRoot(document.getElementById('panel') as HTMLElement).render(createElement(panel.Inside));
  await vi.waitFor(() => type('Agency', 'A Wire'));
  expect(edits).toEqual([{ meta: { ...meta, newsroom_agency: 'A Wire' } }]);
});
