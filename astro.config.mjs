import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import node from '@astrojs/node';
import { defineConfig } from 'astro/config';
import { inlinePublication } from './scripts/inline-publication.ts';
import { islandsInAFile } from './scripts/islands-in-a-file.ts';
import { pageStyles } from './scripts/page-styles.ts';
import { rememberDigests } from './scripts/remember-digests.ts';
import { interactionDirective, reactIslands, storyWorker } from './src/client/integrations.ts';
import { currencyStyle } from './src/lib/billing/currency.ts';
import { publication } from './src/publication.ts';
import { checkPublication } from './src/publication-check.ts';
import { fontFallbackStyle } from './src/styles/font-fallbacks.ts';
import { paperFonts } from './src/styles/fonts.ts';
import { virtualStyle } from './src/styles/virtual-style.ts';

checkPublication(publication);

/** React in one file: each of its five cost a head of its own, and every island needs them all. */
const reactFile = {
  name: 'react',
  test: /node_modules\/(?:react|react-dom|scheduler)\//,
};

/**
 * What nearly every page runs is one file: many small ones compress worse. Each of these looks for its own part of the page and does
 * nothing where there is none.
 */
const common = {
  name: 'common',
  test: new RegExp(
    [
      'vite/preload-helper',
      '/nanostores/atom/',
      '/src/(?:stores/ui|lib/(?:type-ahead|relative-time|accounts/visitor))\\.ts',
      '/src/scripts/(?:header|popups|session)\\.ts',
      '/src/components/site/Time\\.astro\\?astro&type=script',
    ].join('|'),
  ),
};

/** What islands with a form or a button that sends use: one file of both is smaller than two. */
const requests = {
  name: 'requests',
  test: /\/src\/(?:islands\/shared\/request|lib\/http\/messages)\.ts/,
};

/** What makes islands of `<astro-island>`, for pages that have one. */
const hydration = {
  name: 'hydration',
  test: /\/astro\/dist\/runtime\/server\/astro-island\.js|\/src\/client\/(?:hydration|hydration-directive|interaction)\.ts/,
};

/** Names of classes in CSS modules. The usual ones also contain a line number, which differs in each name and compresses badly. */
const className = (name, file) => {
  const path = relative(import.meta.dirname, file.replace(/\?.*$/, ''));
  return `${name}_${createHash('sha256').update(path).digest('base64url').slice(0, 4)}`;
};

export default defineConfig({
  output: 'server',
  // The front (src/server) is the HTTP server; Astro renders behind it, whole answers and no streams.
  adapter: node({ mode: 'middleware', experimentalDisableStreaming: true }),
  session: false,
  integrations: [reactIslands(), interactionDirective(), pageStyles(), storyWorker()],
  trailingSlash: 'never',
  vite: {
    css: { modules: { generateScopedName: className } },
    plugins: [
      inlinePublication(),
      rememberDigests(),
      islandsInAFile(),

      paperFonts('.broadsheet/fonts'),
      virtualStyle('font-fallbacks', fontFallbackStyle),
      virtualStyle('currency', currencyStyle),
    ],
    environments: {
      client: {
        build: { rolldownOptions: { output: { codeSplitting: { groups: [common, hydration, reactFile, requests] } } } },
      },
    },
  },
  devToolbar: { enabled: false },
  // No page shows code; the highlighter's inline styles would only weaken the policy below.
  markdown: { syntaxHighlight: false },
  // Files, which scripts/page-styles.ts joins: styles in a page would be sent with each page again.
  build: { inlineStylesheets: 'never', assets: '_assets' },
  security: {
    checkOrigin: true,
    // Scripts by hash only; the front completes the policy with what depends on the settings (src/server/http/security-headers.ts).
    csp: { scriptDirective: { resources: ["'self'"] }, styleDirective: { resources: ["'self'", "'unsafe-inline'"] } },
  },
});
