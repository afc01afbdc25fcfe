/**
 * Puts the services on `locals`. On the built site the HTTP server has done so already; in `astro dev` they are built here,
 * once, from the settings that `npm run dev` passes on. An error in a page is logged and becomes the 500 page.
 */
import { defineMiddleware } from 'astro:middleware';

/** Survives hot reloads of this file, so that the content store is opened once. */
const survivor = globalThis as { broadsheetApp?: Promise<import('./server/compose.ts').Composition> };

async function developmentApp(): Promise<import('./server/compose.ts').Composition> {
  const [{ compose }, { parseConfig }, { createLog }] = await Promise.all([
    import('./server/compose.ts'),
    import('./server/config/config.ts'),
    import('./server/logging.ts'),
  ]);
  const config = parseConfig(process.env);
  const app = await compose(config, createLog(config.logLevel));
  app.start();
  return app;
}

/** Responses that the HTTP server gives on the built site. */
function developmentHealth(app: import('./server/compose.ts').Composition, path: string): Response {
  if (path === '/healthz') return Response.json({ ok: true, seconds: Math.round(process.uptime()) });
  const { content, features } = app.services;
  const { ready } = content.reader().edition();
  return Response.json({ ready, features, sync: content.status() }, { status: ready ? 200 : 503 });
}

export const onRequest = defineMiddleware(async (context, next) => {
  if (import.meta.env.DEV) {
    survivor.broadsheetApp ??= developmentApp();
    const app = await survivor.broadsheetApp;
    if (/^\/(?:healthz|readyz)$/.test(context.url.pathname)) return developmentHealth(app, context.url.pathname);
    Object.assign(context.locals, app.locals());
    if (!context.locals.content.edition().ready && !/^\/(?:api\/|image$|_|@)/.test(context.url.pathname)) {
      const { noEditionPage } = await import('./server/http/fallback-pages.ts');
      const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Retry-After': '5' };
      return new Response(noEditionPage, { status: 503, headers });
    }
    return next();
  }
  // Astro's own picture service lacks the limits of ours.
  if (context.url.pathname === '/_image') return new Response(null, { status: 404 });
  try {
    return await next();
  } catch (error) {
    context.locals.services.log.error({ err: error, url: context.url.pathname }, "A page couldn't be rendered");
    // An empty 500 is what makes Astro render the 500 page.
    return new Response(null, { status: 500 });
  }
});
