/**
 * The entry of the built pages (`dist/server/entry.mjs`): what Astro makes of a request. Streaming is off, so that an
 * error anywhere in a page becomes the 500 page and the answer is whole.
 */
import { createApp } from 'astro/app/entrypoint';

const app = createApp({ streaming: false });

/**
 * Renders one answer; unknown addresses become the 404 page and errors the 500 page, both with `locals`.
 *
 * @param clientAddress IP address of the asker
 */
export function render(request: Request, locals: App.Locals, clientAddress: string): Promise<Response> {
  const routeData = app.match(request, true);
  return app.render(request, { locals, clientAddress, addCookieHeader: true, ...(routeData && { routeData }) });
}
