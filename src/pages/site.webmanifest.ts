/** The web app manifest, made from the publication so that another newspaper needs no other file. */
import type { APIRoute } from 'astro';
import { textAnswer } from '../lib/feeds/write.ts';
import { publication } from '../publication.ts';

export const GET: APIRoute = () =>
  textAnswer(
    JSON.stringify({
      id: '/',
      name: publication.name,
      short_name: publication.name,
      description: publication.description,
      lang: publication.language,
      start_url: '/',
      scope: '/',
      display: 'minimal-ui',
      background_color: '#f9f9f5',
      theme_color: '#f9f9f5',
      icons: [
        { src: '/icon-192.png', sizes: '192x192', type: 'image/png' },
        { src: '/icon-512.png', sizes: '512x512', type: 'image/png' },
        { src: '/icon-maskable-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
      ],
    }),
    'application/manifest+json',
  );
