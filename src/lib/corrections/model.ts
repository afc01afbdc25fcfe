/** Corrections and clarifications: editors' dated notes on stories, their texts, and the day under which they are listed. */
import type { CorrectedStory, Correction } from '../content/model.ts';
import { dayInZone } from '../day-in-zone.ts';
import { mostNamed } from './schema.ts';

/** The list of all notes. */
export const correctionsPath = '/corrections';

export const correctionWords = {
  title: 'Corrections',
  description: (name: string, suffix: string): string =>
    `Corrections and clarifications of stories in ${name}, newest first${suffix}.`,
  standfirst: 'When we get something wrong, we say so here and on the story itself.',
  report: 'Seen a mistake? Write to',
  none: 'No story has needed a correction so far. When one does, you’ll find it here.',
  all: 'All corrections',
  label: { correction: 'Correction', clarification: 'Clarification' },
  /** Below the byline, before the day of the newest note. */
  done: { correction: 'Corrected', clarification: 'Clarified' },
} as const;

/** The note that the line below the byline names: the newest correction, or if there is none the newest clarification. */
export const namedNote = <Note extends Pick<Correction, 'kind'>>(notes: readonly Note[]): Note | undefined =>
  notes.find(({ kind }) => kind === 'correction') ?? notes[0];

/**
 * The stories that the next notice shows: those with the oldest notes, because the record "notified up to an instant" leaves only newer
 * ones. Stories with the same instant stay together.
 *
 * @param unseen newest first, `at` in epoch milliseconds
 */
export function storiesOfNextNotice<Story extends { readonly at: number }>(unseen: readonly Story[]): readonly Story[] {
  const newest = unseen.at(-mostNamed);
  return newest ? unseen.filter(({ at }) => at <= newest.at) : unseen;
}

/** Notes by their day in the newspaper's zone, in the order of the list. */
export function byDay(items: readonly CorrectedStory[]): { readonly day: string; readonly items: CorrectedStory[] }[] {
  const days: { day: string; items: CorrectedStory[] }[] = [];
  for (const item of items) {
    const day = dayInZone(item.date);
    const last = days.at(-1);
    if (last?.day === day) last.items.push(item);
    else days.push({ day, items: [item] });
  }
  return days;
}
