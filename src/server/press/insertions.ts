/**
 * What this site's press inserts into stored pages or selects in them: the alert's banner, and the forms of headlines that are being
 * tested.
 */
import { createHash } from 'node:crypto';
import { alertScript } from '../../lib/alerts/model.ts';
import { tag } from '../../lib/content/tags.ts';
import { withForms } from '../../lib/headline-tests/markup.ts';
import { groupIn, groups, headlineFor } from '../../lib/headline-tests/model.ts';
import type { Choices, Insertion } from '../../press/cache/insertions.server.ts';

/** The page that a browser stores for reading offline: it gets no banner, because the alert may be over by then. */
const offlinePage = '/offline';
/** Every page of the site begins with its skip link (layouts/Page.astro); the banner follows, before the header. */
const place = Buffer.from('<a class="skip-link"');
const end = Buffer.from('</a>');
const scriptSource = `'sha256-${createHash('sha256').update(alertScript).digest('base64')}'`;

/** The alert's banner. @param html as it is rendered */
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

/** The forms of pages with headlines that are being tested. */
export const headlineChoices: Choices = {
  takes: ({ tags }) => tags.includes(tag.headlineTests),
  groups,
  groupOf: groupIn,
  choose(body, group) {
    const seen = new Map<string, number>();
    const html = withForms(body.toString(), (id, headlines) => {
      const headline = group === null ? 0 : headlineFor(id, headlines, group);
      seen.set(id, headline);
      return headline;
    });
    if (html === null) return null;
    const others = [...seen].filter(([, headline]) => headline > 0).map(([id, headline]) => `${id}:${headline}`);
    return { body: Buffer.from(html), forms: others.sort().join() };
  },
};
