/** The accordion (spec section 4, "Paywall step"). Pure: steps in, steps out. */

export type StepName = 'account' | 'shipping' | 'payment';

export interface Steps {
  /** Two steps, or three when the printed paper has to be sent somewhere. */
  readonly names: readonly StepName[];
  /** `null`: all are folded. */
  readonly open: StepName | null;
  /** The furthest step that may be opened, as an index. */
  readonly reached: number;
}

const at = ({ names }: Steps, step: StepName) => names.indexOf(step);

/** Starts at 2 for somebody who is signed in. */
export function startSteps(print: boolean, signedIn: boolean): Steps {
  const names: readonly StepName[] = print ? ['account', 'shipping', 'payment'] : ['account', 'payment'];
  const reached = signedIn ? 1 : 0;
  return { names, open: names[reached] ?? 'account', reached };
}

/** Another plan was chosen: the same place, where there is such a step. */
export function replan(steps: Steps, print: boolean): Steps {
  const next = startSteps(print, steps.reached > 0);
  return steps.open === 'account' ? { ...next, open: 'account' } : next;
}

/** An e-mail has appeared in the session: on to the second step. */
export const emailAppeared = (steps: Steps): Steps => (steps.open === 'account' ? onward(steps, 'account') : steps);

/** A step is done: on to the next. */
export function onward(steps: Steps, done: StepName): Steps {
  const next = at(steps, done) + 1;
  return { ...steps, open: steps.names[next] ?? null, reached: Math.max(steps.reached, next) };
}

/** "Change returns to 1". */
export const change = (steps: Steps): Steps => ({ ...steps, open: 'account' });

/** "Edit toggles": opens a step that was reached, and folds the one that is open. */
export function toggle(steps: Steps, step: StepName): Steps {
  if (at(steps, step) > steps.reached) return steps;
  return { ...steps, open: steps.open === step ? null : step };
}

/** Nobody is signed in any more. */
export const signedOut = (steps: Steps): Steps => ({ ...steps, open: 'account', reached: 0 });
