// @vitest-environment jsdom
/** The ordered list of a box, with a stand-in for WordPress's REST API. */
import { expect, it, vi } from 'vitest';
import { button, runScripts, type } from './editor-script.ts';

const chosen = ['First', 'Second', 'Third'].map((title, at) => ({ id: at + 1, title }));
const ids = () =>
  [...document.querySelectorAll('input[name="stories[]"]')].map((input) => Number((input as HTMLInputElement).value));

/** Opens the list as the box prints it. @returns what is announced, and the requests */
async function open() {
  const about = { field: 'stories', route: 'articles', heading: 'Stories', search: 'Find', none: 'None.', chosen };
  document.body.innerHTML =
    '<div data-newsroom-picker><ol><li>First<input type="hidden" name="stories[]" value="1"></li></ol></div>';
  document.querySelector<HTMLElement>('div')?.setAttribute('data-newsroom-picker', JSON.stringify(about));
  const said: string[] = [];
  const asked: string[] = [];
  runScripts(['lists.js', 'picker.js'], {
    a11y: { speak: (words: string) => said.push(words) },
    apiFetch: async ({ path }: { path: string }) => {
      asked.push(path);
      return [3, 4].map((id) => ({
        id,
        date: '2026-11-20T12:00:00',
        title: { rendered: id === 3 ? 'Third' : 'A &amp; B' },
      }));
    },
  });
  await vi.waitFor(() => expect(ids()).toEqual([1, 2, 3]));
  return { said, asked };
}

it('submits the documents in the order in which the buttons and keys have put them, and keeps the focus', async () => {
  const { said } = await open();
  button('Move down: First').click();
  await vi.waitFor(() => expect(ids()).toEqual([2, 1, 3]));
  expect(document.activeElement).toBe(button('Move down: First'));
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', altKey: true, bubbles: true }));
  await vi.waitFor(() => expect(ids()).toEqual([2, 3, 1]));
  button('Remove: Third').click();
  await vi.waitFor(() => expect(ids()).toEqual([2, 1]));
  expect(document.activeElement).toBe(button('Remove: First'));
  expect(said).toEqual(['First is now 2 of 3.', 'First is now 3 of 3.', 'Third removed.']);
});

it('moves the focus to the search when the last document is removed', async () => {
  await open();
  for (const [title, left] of [
    ['Third', 2],
    ['Second', 1],
    ['First', 0],
  ] as const) {
    button(`Remove: ${title}`).click();
    await vi.waitFor(() => expect(ids()).toHaveLength(left));
  }
  expect(document.activeElement).toBe(document.querySelector('input[aria-label="Find"]'));
});

it('adds what the search finds, once', async () => {
  const { asked } = await open();
  type('Find', 'bridge');
  await vi.waitFor(() => button('Add A & B').click());
  await vi.waitFor(() => expect(ids()).toEqual([1, 2, 3, 4]));
  expect(asked).toEqual([expect.stringMatching(/^\/wp\/v2\/articles\?search=bridge&/)]);
  expect(document.body.textContent).toContain('A & B (2026-11-20)');
  button('Add Third').click();
  await vi.waitFor(() => expect(document.body.textContent).toContain('Third is already in the list.'));
  expect(ids()).toEqual([1, 2, 3, 4]);
});

it('moves a document by dragging it over the halves of the others', async () => {
  await open();
  const items = () => [...document.querySelectorAll<HTMLElement>('[data-newsroom-picker] ol > li')];
  const drag = (name: string, item: HTMLElement | undefined, clientY = 0) => {
    const event = Object.assign(new MouseEvent(name, { bubbles: true, cancelable: true, clientY }), {
      dataTransfer: {},
    });
    item?.dispatchEvent(event);
    return event.defaultPrevented;
  };
  const [first, second, third] = items();
  for (const item of items()) item.getBoundingClientRect = () => ({ top: 100, height: 40 }) as DOMRect;
  // A text from elsewhere isn't taken.
  expect(drag('dragover', second, 130)).toBe(false);
  drag('dragstart', first);
  await vi.waitFor(() => expect(first?.className).toBe('is-dragged'));
  expect(drag('dragover', third, 110)).toBe(true);
  await vi.waitFor(() => expect(ids()).toEqual([2, 1, 3]));
  drag('dragover', third, 130);
  await vi.waitFor(() => expect(ids()).toEqual([2, 3, 1]));
  drag('dragover', second, 110);
  await vi.waitFor(() => expect(ids()).toEqual([1, 2, 3]));
  drag('dragend', first);
  await vi.waitFor(() => expect(first?.className).toBe(''));
});
