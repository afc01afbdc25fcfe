/** A front from WordPress's response: plain text, valid links, pictures with a size. */
import type { Picture } from '../../lib/content/model.ts';
import { type FrontPlan, type FrontSlot, type RelatedLink, usualPlace } from '../../lib/fronts/model.ts';
import type { WirePlan, WireRelated, WireSlot } from '../wire/front.ts';
import type { WireImage } from '../wire/post.ts';
import { type Addresses, linkTarget } from './addresses.ts';
import type { Sanitizer } from './sanitize.server.ts';

/** Longest headline, characters. The plugin allows the same. */
export const longestHeadline = 200;

/** @returns `null` for what isn't a link to a page: a script, a file, a form of WordPress */
function linkOf(sanitizer: Sanitizer, { story, url, title }: WireRelated, addresses: Addresses): RelatedLink | null {
  const text = sanitizer.line(title, longestHeadline);
  if (story !== null) return { story, title: text };
  const target = linkTarget(url, addresses, `${addresses.site}/`);
  const isPage = target?.kind === 'site' || target?.kind === 'external' || target?.kind === 'wordpress';
  // Pages that only WordPress has aren't on the site.
  if (!isPage || (target.kind === 'wordpress' && !target.href.startsWith('/')) || text === '') return null;
  return { href: target.href, title: text };
}

/** The plan of a front. @param pictureOf measures a picture */
export async function frontOf(
  sanitizer: Sanitizer,
  { slots, next }: WirePlan,
  addresses: Addresses,
  pictureOf: (image: WireImage | null) => Promise<Picture | null>,
): Promise<FrontPlan> {
  const slotOf = async (slot: WireSlot): Promise<FrontSlot> => ({
    kind: slot.kind,
    story: slot.story,
    headline: sanitizer.line(slot.headline ?? '', longestHeadline),
    picture: await pictureOf(slot.picture ?? null),
    from: slot.from ?? null,
    until: slot.until ?? null,
    related:
      slot.kind === 'package'
        ? (slot.related ?? []).map((link) => linkOf(sanitizer, link, addresses)).filter((link) => link !== null)
        : [],
    // The usual place is omitted, so that fronts from before places existed stay the same.
    ...(slot.kind === 'package' && slot.after && slot.after !== usualPlace && { after: slot.after }),
  });
  return {
    slots: await Promise.all(slots.map(slotOf)),
    next: next ? { at: next.at, slots: await Promise.all(next.slots.map(slotOf)) } : null,
  };
}
