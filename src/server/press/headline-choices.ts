/** The forms of pages with headlines that are being tested, as what the press chooses from. */
import { tag } from '../../lib/content/tags.ts';
import { withForms } from '../../lib/headline-tests/markup.ts';
import { groupIn, groups, headlineFor } from '../../lib/headline-tests/model.ts';
import type { Choices } from '../../press/cache/insertions.server.ts';

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
