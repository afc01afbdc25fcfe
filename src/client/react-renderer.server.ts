/**
 * The server half of `@astrojs/react`, for islands whose HTML is whole at once. The package renders each island twice into a web stream (first
 * to ask whether it is React), which costs several turns of the event loop; no island waits for data, so that a string does.
 */
import packageRenderer from '@astrojs/react/server.js';
import type { AstroComponentMetadata, NamedSSRLoadedRendererValue, SSRResult } from 'astro';
import { type ComponentType, createElement } from 'react';
import { renderToString } from 'react-dom/server';

/** Islands rendered so far of each page, which gives each of them its own prefix for `useId`. */
const counts = new WeakMap<SSRResult, number>();

function nextPrefix(result: SSRResult): string {
  const count = counts.get(result) ?? 0;
  counts.set(result, count + 1);
  return `s${count}`;
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
    return { html: renderToString(createElement(component, rest), { identifierPrefix: prefix }), attrs: { prefix } };
  },
};

export default renderer;
