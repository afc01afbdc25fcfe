/** What the posts of WordPress have in common: pictures, people, categories and the fields of every post. */
import { z } from 'zod';
import {
  id,
  idOf,
  instant,
  isNone,
  isObject,
  members,
  pixels,
  reading,
  rendered,
  requiredRendered,
  slugText,
  text,
  textIn,
} from './values.ts';

const imageObject = z.object({
  url: text.default(''),
  alt: text.default(''),
  width: pixels.default(null),
  height: pixels.default(null),
  caption: text.default(''),
  credit: text.default(''),
});

export type WireImage = Readonly<z.infer<typeof imageObject>>;

export const imageOf = (value: unknown): { value: WireImage | null } | null => {
  // A bare attachment id has no address to show.
  if (isNone(value) || typeof value === 'number') return { value: null };
  if (typeof value === 'string') {
    return { value: { url: value, alt: '', width: null, height: null, caption: '', credit: '' } };
  }
  const { data } = imageObject.safeParse(value);
  return data ? { value: data.url === '' ? null : data } : null;
};

export const image = reading('null or an image with url, alt, width and height', imageOf);

export interface WireAuthor {
  readonly id: number;
  /** `null` when the response has only the id. */
  readonly details: {
    readonly name: string;
    readonly slug: string;
    readonly excerpt: string;
    readonly image: WireImage | null;
  } | null;
}

/** An author: expanded, a post as ACF returns it, or a bare id. */
function personOf(value: unknown): { value: WireAuthor | null } | null {
  if (isNone(value) || value === 0 || value === '0') return { value: null };
  const found = idOf(value);
  if (found === null) return null;
  if (!isObject(value)) return { value: { id: found, details: null } };
  const slug = textIn(value.slug) ?? textIn(value.post_name);
  if (slug === null) return null;
  const name = textIn(value.name) ?? textIn(value.post_title) ?? slug;
  const excerpt = textIn(value.excerpt) ?? textIn(value.post_excerpt) ?? '';
  const portrait = imageOf(value.image);
  return { value: { id: found, details: { name, slug, excerpt, image: portrait?.value ?? null } } };
}

/** Most authors or contributors of a document. The plugin allows fewer; this limit is for content from elsewhere. */
const mostPeople = 50;

/** The people that can be read, each once: one invalid person doesn't reject the story. */
const peopleIn = (values: readonly unknown[]): WireAuthor[] => {
  const read = values.slice(0, mostPeople).map((each) => personOf(each)?.value ?? null);
  return read.filter(
    (each, at) => each !== null && read.findIndex((other) => other?.id === each.id) === at,
  ) as WireAuthor[];
};

/** The authors of a document: one of the forms above, or a list of them. */
export const authors = reading('null or an author with id, name and slug', (input) => {
  const [first, ...others] = members(input);
  return personOf(first) && { value: peopleIn([first, ...others]) };
});

export interface WireByline {
  readonly authors: readonly WireAuthor[];
  readonly contributors: readonly WireAuthor[];
  readonly agency: { readonly name: string; readonly url: string } | null;
}

/** Older plugins have no `byline`. */
export const byline = reading<WireByline | null>('authors, contributors and an agency', (value) => {
  if (!isObject(value)) return { value: null };
  const agency = isObject(value.agency) ? value.agency : {};
  const name = textIn(agency.name);
  return {
    value: {
      authors: peopleIn(members(value.authors)),
      contributors: peopleIn(members(value.contributors)),
      agency: name === null ? null : { name, url: textIn(agency.url) ?? '' },
    },
  };
});

/** Category terms of a document: objects or ids, primary first. */
const terms = reading('a list of categories', (input) => {
  const found = members(input).map(idOf);
  return found.includes(null) ? null : { value: [...new Set(found as number[])] };
});

/** The fields of every post. */
export const post = {
  id,
  slug: slugText,
  date_gmt: instant,
  modified_gmt: instant,
  title: requiredRendered,
  content: rendered.optional(),
  excerpt: rendered.optional(),
  image: image.optional(),
  link: text.optional(),
  old_slugs: reading('a list of slugs', (value) => {
    const list = members(value);
    return list.every((each) => typeof each === 'string') ? { value: list as string[] } : null;
  }).optional(),
};

/** The categories of a post, under the name of the plugin or of WordPress. */
export const categorized = {
  category: terms.optional(),
  categories: terms.optional(),
};

export const acfOrEmpty = (value: unknown): unknown => (isNone(value) ? {} : value);
export const acfWith = <T extends z.ZodRawShape>(shape: T) => z.preprocess(acfOrEmpty, z.object(shape));
