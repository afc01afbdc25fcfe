/** Corrections and clarifications: editors' dated notes on stories, their words, and the day under which the list has them. */
import type { CorrectedStory, Correction } from '../content/model.ts';
import { dayInZone } from '../day-in-zone.ts';

/** Id of the notes on a story's page. */
export const correctionsId = 'corrections';

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

/** The note that the line below the byline names: the newest correction, or the newest clarification of a story without one. */
export const namedNote = (notes: readonly Correction[]): Correction | undefined =>
  notes.find(({ kind }) => kind === 'correction') ?? notes[0];

/** Where the browser asks which stories that the user has read were corrected since, and says that the user was told. */
export const toldPath = '/api/v1/me/history/corrections';

export interface UntoldStory {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
}

/** GET: the newest first; `until` is the instant of the newest correction, `null` where there is none to tell. */
export interface UntoldAnswer {
  readonly stories: readonly UntoldStory[];
  readonly until: string | null;
}

/** POST: the user was told about corrections up to this instant. */
export interface ToldBody {
  readonly until: string;
}

/** Stories that one notice names. */
export const mostNamed = 3;

/** What the notice says. */
export const noticeWords = {
  heading: (count: number): string =>
    count === 1 ? 'A story you read was corrected' : 'Stories you read were corrected',
  dismiss: 'Dismiss',
} as const;

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
