/** The smallest set of tags that a change of a document or of the sections affects (docs/decisions/0002). */
import type { DocumentType } from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import type { DocumentFacts, IngestedSection } from '../ingest/document.ts';
import { creditedIds } from './bylines.server.ts';

/** Tag of the pages that show a document whole. An author's profile and a series aren't included: every article of theirs shows them, and those aren't withdrawn. */
export function pageTags(type: DocumentType, id: number, slug: string | null): string[] {
  if (type === 'articles') return [tag.article(id)];
  if (type === 'live-entries') return [tag.entry(id)];
  if (type === 'video') return [tag.video(id)];
  if (type === 'crosswords') return [tag.crossword(id)];
  return type === 'pages' && slug !== null ? [tag.page(slug)] : [];
}

/** The fields of a version that pages show. */
export interface DocumentVersion {
  readonly id: number;
  readonly type: DocumentType;
  readonly slug: string;
  readonly title: string;
  readonly excerpt: string;
  /** JSON. */
  readonly image: string | null;
  readonly authorId: number | null;
  readonly terms: readonly number[];
  readonly date: string;
  readonly modified: string;
  readonly facts: DocumentFacts;
  readonly bodyHash: string;
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const sameTerms = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((term, index) => term === b[index]);

/** The facts that a card shows, except that the story is being covered live. */
const cardFacts = ({ facts: { access, minutes, byline, test } }: DocumentVersion): readonly unknown[] => [
  access,
  minutes,
  byline,
  test,
];

const isLive = ({ facts: { live } }: DocumentVersion): boolean => live?.state === 'live';

/** Whether two versions look the same on a card. A card doesn't show `modified`. */
const sameCard = (a: DocumentVersion, b: DocumentVersion): boolean =>
  a.slug === b.slug &&
  a.title === b.title &&
  a.excerpt === b.excerpt &&
  a.image === b.image &&
  a.authorId === b.authorId &&
  a.date === b.date &&
  sameJson(cardFacts(a), cardFacts(b)) &&
  isLive(a) === isLive(b) &&
  sameTerms(a.terms, b.terms);

const sameEntirely = (a: DocumentVersion, b: DocumentVersion): boolean =>
  sameCard(a, b) && a.modified === b.modified && sameJson(a.facts, b.facts) && a.bodyHash === b.bodyHash;

/**
 * The smallest set of tags that a change of one document affects.
 *
 * @param before the previous version in the content store, `null` for a new document
 * @param after the present version, `null` for a withdrawn document
 * @param sectionSlug slug of a category term, `null` when it is not a section
 * @param topStoryIds ids of the editors' selection for the front page
 */
export function tagsOfDocument(
  before: DocumentVersion | null,
  after: DocumentVersion | null,
  sectionSlug: (term: number) => string | null,
  topStoryIds: readonly number[] = [],
): Set<string> {
  const tags = new Set<string>();
  const either = after ?? before;
  if (!either || (before && after && sameEntirely(before, after))) return tags;
  const appearsOrGoes = !before || !after;
  for (const version of [before, after]) {
    if (version && (appearsOrGoes || before.slug !== after.slug)) tags.add(tag.slug(version.type, version.slug));
  }
  const reordered = appearsOrGoes || before.date !== after.date;
  switch (either.type) {
    case 'articles':
      articleTags(tags, before, after, reordered, sectionSlug);
      if (appearsOrGoes && topStoryIds.includes(either.id)) tags.add(tag.topStories);
      break;
    case 'live-entries':
      tags.add(tag.entry(either.id));
      for (const story of [before?.facts.story, after?.facts.story]) if (story !== undefined) tags.add(tag.live(story));
      break;
    case 'video':
      tags.add(tag.video(either.id));
      if (reordered || !sameTerms(before.terms, after.terms)) tags.add(tag.videos);
      break;
    case 'crosswords':
      tags.add(tag.crossword(either.id));
      if (reordered) tags.add(tag.crosswords);
      break;
    case 'podcasts':
      tags.add(tag.podcast(either.id));
      if (appearsOrGoes || before.title !== after.title) tags.add(tag.podcasts);
      break;
    case 'fronts':
      // The page of a front also depends on its schedule; the tags for that are in `write.server.ts`.
      break;
    case 'pages':
      for (const version of [before, after]) if (version) tags.add(tag.page(version.slug));
      if (appearsOrGoes || before.slug !== after.slug || before.title !== after.title) tags.add(tag.pages);
      break;
    case 'authors':
      tags.add(tag.profile(either.id));
      if (appearsOrGoes || before.slug !== after.slug || before.title !== after.title) {
        tags.add(tag.byline(either.id));
        tags.add(tag.authors);
        tags.add(tag.search);
      }
      break;
  }
  return tags;
}

function articleTags(
  tags: Set<string>,
  before: DocumentVersion | null,
  after: DocumentVersion | null,
  reordered: boolean,
  sectionSlug: (term: number) => string | null,
): void {
  const either = after ?? before;
  if (!either) return;
  tags.add(tag.article(either.id));
  if (!before || !after || !sameCard(before, after)) tags.add(tag.card(either.id));
  if (!sameJson(before?.facts.corrections, after?.facts.corrections)) tags.add(tag.corrections);
  if (
    !before ||
    !after ||
    before.title !== after.title ||
    before.excerpt !== after.excerpt ||
    before.authorId !== after.authorId ||
    before.bodyHash !== after.bodyHash ||
    // The access level decides how much of the text is indexed, and a section may set the level.
    !sameJson(cardFacts(before), cardFacts(after)) ||
    // Entries of live coverage are indexed with their story.
    (before.facts.live === undefined) !== (after.facts.live === undefined) ||
    !sameTerms(before.terms, after.terms)
  ) {
    tags.add(tag.search);
  }
  const [soundBefore, sound] = [before?.facts.sound, after?.facts.sound];
  if (reordered || !sameJson(soundBefore, sound)) {
    for (const id of [soundBefore?.podcast, sound?.podcast]) if (id != null) tags.add(tag.episodes(id));
  }
  if (reordered) tags.add(tag.latest);
  const terms = new Set([...(before?.terms ?? []), ...(after?.terms ?? [])]);
  for (const term of terms) {
    const moved = reordered || before?.terms.includes(term) !== after?.terms.includes(term);
    const slug = moved ? sectionSlug(term) : null;
    if (slug !== null) tags.add(tag.section(slug));
  }
  const was = new Set(before && creditedIds(before));
  const is = new Set(after && creditedIds(after));
  for (const person of was.union(is)) {
    if (reordered || was.has(person) !== is.has(person)) tags.add(tag.author(person));
  }
}

/** Tags that a change of the sections affects. */
export function tagsOfSections(before: readonly IngestedSection[], after: readonly IngestedSection[]): Set<string> {
  const tags = new Set<string>();
  const old = new Map(before.map((section) => [section.id, section]));
  for (const section of after) {
    const was = old.get(section.id);
    old.delete(section.id);
    if (was && JSON.stringify(was) === JSON.stringify(section)) continue;
    if (was?.position == null && section.position === null) continue;
    tags.add(tag.navigation);
    for (const version of [was, section]) if (version) tags.add(tag.section(version.slug));
  }
  for (const gone of old.values()) {
    if (gone.position === null) continue;
    tags.add(tag.navigation);
    tags.add(tag.section(gone.slug));
  }
  return tags;
}
