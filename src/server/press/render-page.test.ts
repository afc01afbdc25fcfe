import { describe, expect, it, vi } from 'vitest';
import { missingPath, type RenderPage } from '../http/page-renderer.ts';
import { pressRender } from './render-page.ts';

describe('the page under addresses where there is nothing', () => {
  function bench() {
    const state = { revision: 1, fails: false };
    const render = vi.fn<RenderPage>(async ({ url }) => {
      if (!url.endsWith(missingPath)) throw new Error(`There is no page ${url}.`);
      if (state.fails) throw new Error('The page broke.');
      const body = Buffer.from(`Not found, as of ${state.revision}`);
      return {
        status: 404,
        headers: new Headers({ 'content-type': 'text/html' }),
        body,
        tags: new Set(['navigation']),
      };
    });
    const locals = () => ({ content: { tags: new Set<string>() } }) as unknown as App.Locals;
    const pages = pressRender(
      render,
      'https://sun.example',
      locals,
      () => state.revision,
      () => true,
    );
    const text = async (key: string): Promise<string> => (await pages(key, 'public')).body.toString();
    return { state, render, text };
  }

  it('is rendered once for all of them, and again when the content has changed', async () => {
    const { state, render, text } = bench();
    expect(await Promise.all(['/article/a', '/article/b'].map(text))).toEqual(Array(2).fill('Not found, as of 1'));
    expect(render).toHaveBeenCalledOnce();
    state.revision = 2;
    expect(await text('/article/a')).toBe('Not found, as of 2');
  });

  it('that failed to render is rendered by the next request', async () => {
    const { state, text } = bench();
    state.fails = true;
    await expect(text('/article/a')).rejects.toThrow('The page broke.');
    state.fails = false;
    expect(await text('/article/a')).toBe('Not found, as of 1');
  });
});

it.each([
  ['public, max-age=60', true],
  ['private, max-age=60', false],
  ['no-store', false],
])('a page that says %s is stored: %s', async (policy, storable) => {
  const headers = new Headers({ 'cache-control': policy });
  const page = { status: 200, headers, body: Buffer.alloc(0), tags: new Set<string>() };
  const locals = () => ({ content: { tags: new Set<string>() } }) as unknown as App.Locals;
  const render = pressRender(async () => page, 'https://sun.example', locals);
  expect((await render('/about', 'public')).storable).toBe(storable);
});
