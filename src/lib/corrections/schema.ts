/** What the site and the browser say to each other about corrections; browsers load it, and nothing of the model. */

/** Id of the notes on a story's page. */
export const correctionsId = 'corrections';

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
