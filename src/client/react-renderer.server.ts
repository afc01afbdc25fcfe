/**
 * The server renderer of `@astrojs/react`, for islands that render synchronously. The package renders each island twice into a web stream
 * (first to test whether it is React), which takes several turns of the event loop. No island waits for data, so rendering to a string is
 * enough.
 */
import packageRenderer from '@astrojs/react/server.js';
import type { AstroComponentMetadata, NamedSSRLoadedRendererValue, SSRResult } from 'astro';
import { type ComponentType, createElement } from 'react';
import { renderToString } from 'react-dom/server';

/** Number of islands rendered so far in each page: each island gets its own prefix for `useId`. */
const counts = new WeakMap<SSRResult, number>();

function nextPrefix(result: SSRResult): string {
  const count = counts.get(result) ?? 0;
  counts.set(result, count + 1);
  return `s${count}`;
}

/**
 * HTML of islands without props by their prefix; one is on every page. Such an island always renders the same: it reads neither the time
 * nor the reader.
 */
const htmlWithoutProps = new WeakMap<ComponentType, Map<string, string>>();

function renderWithoutProps(component: ComponentType, prefix: string): string {
  const rendered = htmlWithoutProps.get(component) ?? new Map<string, string>();
  htmlWithoutProps.set(component, rendered);
  const html = rendered.get(prefix) ?? renderToString(createElement(component), { identifierPrefix: prefix });
  rendered.set(prefix, html);
  return html;
}

const renderer: NamedSSRLoadedRendererValue = {
  ...packageRenderer,
  // React is the only framework here.
  check: async (component: unknown) => typeof component === 'function' || typeof component === 'object',
  async renderToStaticMarkup(
    this: { readonly result: SSRResult },
    component: ComponentType,
    props: Readonly<Record<string, unknown>>,
    slots: Readonly<Record<string, string>>,
    metadata?: AstroComponentMetadata,
  ) {
    if (Object.keys(slots).length > 0 || 'children' in props) {
      return packageRenderer.renderToStaticMarkup.call(this, component, props, slots, metadata);
    }
    const { class: _, ...rest } = props;
    const prefix = nextPrefix(this.result);
    const html =
      Object.keys(rest).length === 0
        ? renderWithoutProps(component, prefix)
        : renderToString(createElement(component, rest), { identifierPrefix: prefix });
    return { html, attrs: { prefix } };
  },
};

export default renderer;
