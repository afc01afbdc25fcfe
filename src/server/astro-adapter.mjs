/**
 * Astro's adapter of this house: the build exports a `render` function (astro-entry.ts) and the front is the HTTP
 * server. It exists beside `@astrojs/node` because the front makes the request itself, with the public origin of the
 * settings in its address, and wants the whole answer and not a stream.
 */
export default function broadsheetAdapter() {
  return {
    name: 'broadsheet',
    hooks: {
      'astro:config:setup': ({ updateConfig }) => {
        updateConfig({ build: { redirects: false }, session: false });
      },
      'astro:config:done': ({ setAdapter }) => {
        setAdapter({
          name: 'broadsheet',
          entrypointResolution: 'auto',
          serverEntrypoint: new URL('./astro-entry.ts', import.meta.url),
          adapterFeatures: { buildOutput: 'server', middlewareMode: 'classic' },
          supportedAstroFeatures: {
            serverOutput: 'stable',
            staticOutput: 'stable',
            hybridOutput: 'stable',
            sharpImageService: 'stable',
          },
        });
      },
    },
  };
}
