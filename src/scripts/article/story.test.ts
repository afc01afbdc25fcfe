// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';
import { followReader, showSaved } from './story.ts';

afterEach(() => vi.unstubAllGlobals());

const button = () => document.querySelector<HTMLButtonElement>('button') as HTMLButtonElement;

/** Follows the reader of a story. @returns answers the question whether it is saved, and waits until the page has read the answer */
function follow(): (saved: boolean) => Promise<void> {
  document.body.innerHTML =
    '<div data-tools="7"><button data-tool="save"><span>Save</span></button></div><div class="story"></div>';
  const answer = Promise.withResolvers<Response>();
  vi.stubGlobal('fetch', () => answer.promise);
  followReader();
  return async (saved) => {
    const response = Response.json({ saved });
    const read = vi.spyOn(response, 'text');
    answer.resolve(response);
    await vi.waitFor(() => expect(read).toHaveResolved());
    // What waits for the body runs before the next task.
    await new Promise((resolve) => setTimeout(resolve));
  };
}

it.each([
  [true, 'true', 'Saved'],
  [false, 'false', 'Save'],
])('the save button shows whether the story is saved: %s', async (saved, pressed, label) => {
  const answer = follow();
  button().ariaPressed = null;
  await answer(saved);
  expect([button().ariaPressed, button().textContent]).toEqual([pressed, label]);
});

it('an answer from before the reader saved the story doesn’t reset the save button', async () => {
  const answer = follow();
  showSaved(true);
  await answer(false);
  expect([button().ariaPressed, button().textContent]).toEqual(['true', 'Saved']);
});
