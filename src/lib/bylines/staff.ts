/** The staff page: every author, by last name, with the section of the newest story. */
import type { Author, Card } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { byLastName } from './model.ts';

export interface Writer {
  readonly author: Author;
  /** Of the newest story that is theirs or that they helped with; `null` without one. */
  readonly section: Card['section'];
}

/** Tags: those of all authors, of each author's list, and of each newest story. */
export const staff = (content: ContentReader): Writer[] =>
  byLastName(content.authors()).map((author) => ({
    author,
    section: content.articles({ authorId: author.id, limit: 1 }).items[0]?.section ?? null,
  }));
