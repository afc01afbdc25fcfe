// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.doUnmock('./third-parties-page.ts');
  vi.resetModules();
});

it('a privacy choice is submitted as a plain form when its script cannot be loaded', async () => {
  vi.doMock('./third-parties-page.ts', () => {
    throw new Error('The line is down.');
  });
  document.body.innerHTML = `
    <form data-privacy method="post" action="/privacy-choices/save">
      <input type="checkbox" name="purpose" value="measurement" checked>
      <button name="choice" value="chosen">Save my choices</button>
    </form>`;
  await import('./third-parties.ts');
  const sent: string[] = [];
  // Forms that the page's own script doesn't handle go to the server.
  addEventListener('submit', (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement, event.submitter);
    sent.push(new URLSearchParams([...data] as [string, string][]).toString());
  });
  document.querySelector('button')?.click();
  expect(sent).toEqual([]);
  await vi.waitFor(() => expect(sent).toEqual(['purpose=measurement&choice=chosen']));
});
