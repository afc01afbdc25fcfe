/**
 * A front as WordPress sends it (docs/content-api.md). A slot that can't be read is left out, so that the rest of the page is
 * shown.
 */
import { z } from 'zod';
import { isPackagePlace, type PackagePlace, sectionOfFront, slotKinds } from '../../lib/fronts/model.ts';
import { image, post } from './post.ts';
import { id, idOf, instant, instantOf, isNone, isObject, members, reading, text } from './values.ts';

/** Most slots of a front, and headlines of a package. The plugin has the same limits; these are for content from elsewhere. */
const most = { slots: 60, related: 12 };

/** A slot with an unreadable time limit is left out: otherwise it would be shown without a limit. */
const timeLimit = reading('null or a UTC date and time', (value) => {
  if (isNone(value)) return { value: null as string | null };
  const known = instantOf(value);
  return known === null ? null : { value: known as string | null };
}).optional();

export interface WireRelated {
  /** Id of a story; `null` for an address. */
  readonly story: number | null;
  readonly url: string;
  readonly title: string;
}

function relatedOf(value: unknown): WireRelated | null {
  if (!isObject(value)) return null;
  const title = typeof value.title === 'string' ? value.title : '';
  const story = isNone(value.story) || value.story === 0 ? null : idOf(value.story);
  const url = typeof value.url === 'string' ? value.url : '';
  return story === null && (url === '' || title.trim() === '') ? null : { story, url, title };
}

const slot = z.object({
  kind: z.enum(slotKinds),
  story: id,
  headline: text.optional(),
  picture: image.optional(),
  from: timeLimit,
  until: timeLimit,
  // An unknown place is left out, and the package is shown where packages usually are.
  after: reading('a place', (value) => ({
    value: isPackagePlace(value) ? value : (null as PackagePlace | null),
  })).optional(),
  related: reading('a list of links', (value) => ({
    value: members(value)
      .slice(0, most.related)
      .map(relatedOf)
      .filter((link) => link !== null),
  })).optional(),
});

export type WireSlot = z.infer<typeof slot>;

const slots = reading('a list of slots', (value) =>
  Array.isArray(value) || isNone(value)
    ? {
        value: members(value)
          .slice(0, most.slots)
          .flatMap((each) => slot.safeParse(each).data ?? []),
      }
    : null,
);

const plan = z.object({ slots, next: z.object({ at: instant, slots }).nullish() });

export type WirePlan = z.infer<typeof plan>;

/** The slug says which page the front belongs to. */
export const front = z.object({
  ...post,
  slug: z.string().refine((slug) => sectionOfFront(slug) !== undefined, { error: 'expected home or section-<id>' }),
  front: plan,
});
