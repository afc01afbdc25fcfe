// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';
import { makeGiftLink } from './tools.ts';

afterEach(() => vi.unstubAllGlobals());

async function refusedWith(status: number, body: object): Promise<HTMLElement> {
  document.body.innerHTML =
    '<div data-tools="7" data-title="A story" data-gift><button type="button"></button><p data-gift-out></p></div>';
  vi.stubGlobal('fetch', async () => Response.json(body, { status }));
  await makeGiftLink(document.querySelector('button') as HTMLButtonElement);
  return document.querySelector('[data-gift-out]') as HTMLElement;
}

it('a gift link refused for an unconfirmed address leads to the page that sends another confirmation email', async () => {
  const out = await refusedWith(403, { message: 'Confirm your email address first.', code: 'unconfirmed' });
  expect(out.textContent).toMatch(/^Confirm your email address first\. \w/);
  expect(out.querySelector('a')?.getAttribute('href')).toBe('/account/confirm?return=%2F');
});

it('any other refusal of a gift link shows its reason, without a link', async () => {
  const out = await refusedWith(403, { message: 'Subscribers can give articles away.' });
  expect([out.textContent, out.querySelector('a')]).toEqual(['Subscribers can give articles away.', null]);
});
