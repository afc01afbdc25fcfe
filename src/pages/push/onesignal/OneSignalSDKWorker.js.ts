/**
 * The push worker, from our own origin as browsers require (docs/services/onesignal.md). Its scope is this folder, so the site's other
 * service worker is not affected.
 */
import type { APIRoute } from 'astro';
import { workerPolicy } from '../../../lib/third-party/sources.ts';

export const GET: APIRoute = ({ locals }) => {
  const { webPush } = locals.config.thirdParties;
  if (!webPush) return new Response('Notifications are not set up.\n', { status: 404 });
  return new Response(`importScripts(${JSON.stringify(`${webPush.sdkUrl}/OneSignalSDK.sw.js`)});\n`, {
    headers: {
      'Content-Type': 'application/javascript; charset=utf-8',
      // Browsers check for a new worker at least once a day in any case.
      'Cache-Control': 'public, max-age=3600',
      'Content-Security-Policy': workerPolicy(webPush),
    },
  });
};
