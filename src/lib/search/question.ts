/** What a reader searches for, as the address of a search says it: words, a section, days. Pure. */
import { fromZonedTime } from 'date-fns-tz';
import { publication } from '../../publication.ts';

/** Longest query that is looked up, in UTF-16 code units; the box takes no more. */
const longest = 200;

/** The query of a search page, cut to 200 code units and never through a character: half of one has no address. */
export function searchTerms(params: URLSearchParams): string {
  return (params.get('q') ?? '')
    .trim()
    .slice(0, longest)
    .replace(/[\ud800-\udbff]$/u, '');
}

export interface Question {
  /** `''` where nothing was typed. */
  readonly query: string;
  /** Slug of a section, `''` for all. */
  readonly section: string;
  /** Days of the paper's zone, `yyyy-MM-dd`, both within the span; `''` where it is open. */
  readonly from: string;
  readonly to: string;
}

export const noQuestion: Question = { query: '', section: '', from: '', to: '' };

export type ReadQuestion =
  | { readonly ok: true; readonly question: Question }
  /** `message` is for a reader. */
  | { readonly ok: false; readonly message: string; readonly query: string };

/** Whether a text names a day that there is. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text)) return false;
  const instant = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
}

/** Reads the address of a search. A section that there is not finds nothing; a day that there is not is refused. */
export function readQuestion(params: URLSearchParams): ReadQuestion {
  const given = (name: string): string => (params.get(name) ?? '').trim();
  const [from, to] = [given('from'), given('to')];
  const query = searchTerms(params);
  const refuse = (message: string): ReadQuestion => ({ ok: false, query, message });
  if (![from, to].every((day) => day === '' || isDay(day))) {
    return refuse('Enter dates as year, month and day: 2026-11-21.');
  }
  if (from !== '' && to !== '' && from > to) return refuse('The first date must come before the last one.');
  return { ok: true, question: { query, section: given('section').slice(0, 100), from, to } };
}

/** The span of a question as the content store wants it: UTC instants, the last one not within. */
export function spanOf({ from, to }: Pick<Question, 'from' | 'to'>): { since?: string; until?: string } {
  const startOf = (day: string): string => fromZonedTime(`${day}T00:00:00`, publication.timeZone).toISOString();
  return { ...(from !== '' && { since: startOf(from) }), ...(to !== '' && { until: startOf(dayAfter(to)) }) };
}

function dayAfter(day: string): string {
  const noon = new Date(`${day}T12:00:00Z`);
  noon.setUTCDate(noon.getUTCDate() + 1);
  return noon.toISOString().slice(0, 10);
}

/** The part of an address that says the question, with what is given only; `''` for nothing. */
export const questionText = ({ query, section, from, to }: Question): string =>
  Object.entries({ q: query, section, from, to })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
