/**
 * The push worker, from our own address: a browser takes a worker from no other (vendors.md 5). Its scope is this folder, so it stands
 * beside any other worker of the site.
 */
import type { APIRoute } from 'astro';
import { workerPolicy } from '../../../lib/third-party/sources.ts';

export const GET: APIRoute = ({ locals }) => {
  const { webPush } = locals.config.thirdParties;
  if (!webPush) return new Response('Notifications are not set up.\n', { status: 404 });
  return new Response(`importScripts(${JSON.stringify(`${webPush.sdkUrl}/OneSignalSDK.sw.js`)});\n`, {
    headers: {
      'Content-Type': 'application/javascript; charset=utf-8',
      // Browsers ask for a worker anew at least once a day, whatever is said here.
      'Cache-Control': 'public, max-age=3600',
      'Content-Security-Policy': workerPolicy(webPush),
    },
  });
};
