import type { SSRResult } from 'astro';
import { useId } from 'react';
import { expect, it, vi } from 'vitest';

// The package can be loaded in an Astro build only: it imports options that the build writes.
const packaged = vi.hoisted(() => ({
  name: 'package',
  check: vi.fn(),
  renderToStaticMarkup: vi.fn(async () => 'package'),
}));
vi.mock('@astrojs/react/server.js', () => ({ default: packaged }));

const { default: renderer } = await import('./react-renderer.server.ts');

interface Rendered {
  readonly html: string;
  readonly attrs: { readonly prefix: string };
}

function Field({ label }: { readonly label: string }) {
  const id = useId();
  return (
    <label htmlFor={id}>
      {label} <input id={id} />
    </label>
  );
}

const page = (): { readonly result: SSRResult } => ({ result: {} as SSRResult });
const render = (of: ReturnType<typeof page>, component: unknown, props: object, slots: Record<string, string> = {}) =>
  renderer.renderToStaticMarkup.call(of, component, props, slots) as Promise<Rendered>;

it('an island is rendered once, to a string', async () => {
  const component = vi.fn(Field);
  const { html } = await render(page(), component, { label: 'Tom & Jerry' });
  expect(component).toHaveBeenCalledOnce();
  const id = / id="([^"]+)"/.exec(html)?.[1];
  expect(html.replaceAll('<!-- -->', '')).toBe(`<label for="${id}">Tom &amp; Jerry <input id="${id}"/></label>`);
});

it('islands get IDs that are unique on the page and the same for every render of the page', async () => {
  const first = page();
  const one = await render(first, Field, { label: 'a' });
  const two = await render(first, Field, { label: 'a' });
  expect([one.attrs.prefix, two.attrs.prefix]).toEqual(['s0', 's1']);
  expect(two.html).not.toBe(one.html);
  expect(await render(page(), Field, { label: 'a' })).toEqual(one);
});

it('an island without props is rendered once for all pages, with its own IDs in each place of a page', async () => {
  const component = vi.fn(() => <input id={useId()} />);
  const first = page();
  const one = await render(first, component, {});
  const two = await render(first, component, { class: 'astro-abc' });
  expect(two.html).not.toBe(one.html);
  const second = page();
  expect([await render(second, component, {}), await render(second, component, {})]).toEqual([one, two]);
  expect(component).toHaveBeenCalledTimes(2);
});

it('the class that Astro adds for styling is not passed as a prop', async () => {
  const component = vi.fn(Field);
  await render(page(), component, { class: 'astro-abc', label: 'a' });
  expect(component.mock.calls[0]?.[0]).toEqual({ label: 'a' });
});

it('an island with slots is rendered by the @astrojs/react package', async () => {
  expect(await render(page(), Field, { label: 'a' }, { default: '<p>text</p>' })).toBe('package');
  expect(packaged.renderToStaticMarkup).toHaveBeenCalledOnce();
});

it('an island that throws fails the page', async () => {
  const broken = vi.fn(() => {
    throw new Error('no data');
  });
  await expect(render(page(), broken, {})).rejects.toThrow('no data');
});
