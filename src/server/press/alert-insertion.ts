/** The alert's banner as what the press puts into pages. */
import { createHash } from 'node:crypto';
import { alertScript } from '../../lib/alerts/model.ts';
import type { Insertion } from '../../press/cache/insertions.server.ts';

/** The page that a browser keeps for the time without a network; by then an alert may be over. */
const offlinePage = '/offline';
/** Every page of the site begins with its skip link (layouts/Page.astro); the banner follows, before the header. */
const place = Buffer.from('<a class="skip-link"');
const end = Buffer.from('</a>');
const scriptSource = `'sha256-${createHash('sha256').update(alertScript).digest('base64')}'`;

/** @param html the rendered banner */
export function alertInsertion(html: string): Insertion {
  const banner = Buffer.from(html);
  return {
    takes: ({ key }) => key !== offlinePage,
    into(body) {
      const at = body.indexOf(place);
      const after = at < 0 ? -1 : body.indexOf(end, at);
      if (after < 0) return null;
      const here = after + end.byteLength;
      return Buffer.concat([body.subarray(0, here), banner, body.subarray(here)]);
    },
    policy: (rendered) => rendered?.replace(/(^|;)(\s*script-src)(?=\s(?!'none'))/, `$1$2 ${scriptSource}`),
  };
}
