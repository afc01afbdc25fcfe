/**
 * How many random cases one run tries. `npm test` tries some, different ones each time; `npm run prove` tries all. A failure
 * names the seed that repeats it.
 */

/** Whether this is `npm run prove`. */
export const proving = process.env.PROVE === '1';

/** How often to repeat something. @param some in `npm test` @param all in `npm run prove` */
export const runs = (some: number, all: number): number => (proving ? all : some);

/**
 * The seed of this process's random choices: the environment variable's, so that a failure can be repeated, or a new one.
 *
 * @throws Error when the variable isn't a whole number
 */
export function seedFrom(variable: string): number {
  const given = process.env[variable];
  if (given === undefined) return Math.floor(Math.random() * 2 ** 31);
  if (/^\d+$/.test(given)) return Number(given);
  throw new Error(`${variable} is ${JSON.stringify(given)}: give a whole number.`);
}
