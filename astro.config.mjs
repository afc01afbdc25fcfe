import node from '@astrojs/node';
import react from '@astrojs/react';
import { defineConfig, fontProviders } from 'astro/config';

/** One of the four families of the paper, self-hosted from its npm package. */
const family = (name, cssVariable, fallbacks, variants) => ({
  name,
  cssVariable,
  fallbacks,
  provider: fontProviders.local(),
  options: { variants },
});
const file = (pkg, name) => `./node_modules/${pkg}/files/${name}.woff2`;

export default defineConfig({
  output: 'server',
  // The front (src/server) is the HTTP server; Astro is a handler behind it.
  adapter: node({ mode: 'middleware' }),
  integrations: [react()],
  trailingSlash: 'never',
  devToolbar: { enabled: false },
  build: { inlineStylesheets: 'never', assets: '_assets' },
  security: { checkOrigin: true },
  fonts: [
    family('UnifrakturMaguntia', '--font-nameplate', ['Georgia', 'serif'], [
      { weight: 400, style: 'normal', src: [file('@fontsource/unifrakturmaguntia', 'unifrakturmaguntia-latin-400-normal')] },
    ]),
    family('Newsreader', '--font-headline', ['Georgia', 'serif'], [
      { weight: '200 800', style: 'normal', src: [file('@fontsource-variable/newsreader', 'newsreader-latin-opsz-normal')] },
      { weight: '200 800', style: 'italic', src: [file('@fontsource-variable/newsreader', 'newsreader-latin-opsz-italic')] },
    ]),
    family('Source Serif 4', '--font-text', ['Georgia', 'serif'], [
      { weight: '200 900', style: 'normal', src: [file('@fontsource-variable/source-serif-4', 'source-serif-4-latin-opsz-normal')] },
      { weight: '200 900', style: 'italic', src: [file('@fontsource-variable/source-serif-4', 'source-serif-4-latin-opsz-italic')] },
    ]),
    family('Libre Franklin', '--font-label', ['Arial', 'sans-serif'], [
      { weight: '100 900', style: 'normal', src: [file('@fontsource-variable/libre-franklin', 'libre-franklin-latin-wght-normal')] },
    ]),
  ],
});
