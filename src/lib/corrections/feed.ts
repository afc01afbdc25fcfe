/** The feed of corrections and clarifications. It has their full texts, which are never paid content. */
import { createHash } from 'node:crypto';
import { publication } from '../../publication.ts';
import type { CorrectedStory } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { type FeedListing, feedOf } from '../feeds/build.ts';
import { type FeedDocument, type FeedItem, feedFormats, textAnswer } from '../feeds/write.ts';
import { plainText } from '../text.ts';
import { correctionsPath, correctionWords } from './model.ts';
import { correctionsId } from './schema.ts';

const itemsPerFeed = 30;

export const correctionsFeed: FeedListing = {
  title: `${publication.name}: ${correctionWords.title}`,
  base: `${correctionsPath}/`,
};

/** Distinguishes notes of the same story and second. */
const shortHash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 8);

const itemOf = ({ kind, date, html, card }: CorrectedStory, siteUrl: string): FeedItem => ({
  id: card.id,
  note: `${date}:${shortHash(html)}`,
  title: `${correctionWords.label[kind]}: ${card.title}`,
  url: `${siteUrl}/article/${card.slug}#${correctionsId}`,
  summary: plainText(html),
  authors: [],
  contributors: [],
  sections: card.section ? [card.section.label] : [],
  image: null,
  published: date,
  modified: date,
});

/** The newest notes. */
const buildFeed = (content: ContentReader, siteUrl: string): FeedDocument =>
  feedOf(
    correctionsFeed,
    correctionWords.description(publication.name, ''),
    content.corrections({ limit: itemsPerFeed }).items.map((item) => itemOf(item, siteUrl)),
    siteUrl,
  );

/** The response for one format of the feed; 404 for an unknown file. */
export function answerCorrectionsFeed(content: ContentReader, siteUrl: string, file: string | undefined): Response {
  const format = feedFormats.find((known) => known.file === file);
  return textAnswer(format ? format.write(buildFeed(content, siteUrl)) : null, format?.type ?? 'text/plain');
}
