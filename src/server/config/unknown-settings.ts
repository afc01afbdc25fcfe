/** Finds environment variables that look like settings of ours and are not: most likely they are misspelled. */
import { editDistance } from '../../lib/edit-distance.ts';
import { settingNames } from './config.ts';

export interface UnknownSetting {
  readonly name: string;
  /** The setting that the operator most likely meant. */
  readonly meant: string;
}

/** Prefixes that other programs use, too. */
const shared: ReadonlySet<string> = new Set([
  'ASSETS',
  'GOOGLE',
  'LOG',
  'HOST',
  'PORT',
  'DATA',
  'DATABASE',
  'BACKUP',
  'SITE',
  'MAIL',
]);
/** Variables that Kubernetes and Docker set for a service with a name such as `wordpress`. */
const ofContainers = /_(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT(?:_\d+_.*)?|NAME|ENV_.*)$/;
const form = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
/** Settings whose names consist of several words, mapped from their spelling as one word. */
const asOneWord: ReadonlyMap<string, string> = new Map(
  settingNames.filter((name) => form.test(name)).map((name) => [name.replaceAll('_', ''), name]),
);
/** Most letters by which a misspelled name may differ; more for a long name, such as a plural instead of a singular. */
const mostEdits = (name: string): number => (name.length >= 12 ? 3 : 2);

const firstWord = (name: string): string => name.split('_', 1)[0] ?? name;

/** Prefixes that several of our settings share, such as those of one vendor. */
const families: ReadonlySet<string> = new Set(
  settingNames
    .map(firstWord)
    .filter((word, at, words) => words.indexOf(word) !== at)
    .filter((word) => !shared.has(word)),
);

/**
 * Finds these variables in an environment.
 *
 * @param others names that other commands of the project use
 */
export function unknownSettings(
  env: Readonly<Record<string, string | undefined>>,
  others: readonly string[] = [],
): UnknownSetting[] {
  const known = new Set([...settingNames, ...others]);
  return Object.keys(env)
    .filter((name) => env[name]?.trim() && !known.has(name))
    .filter((name) => asOneWord.has(name) || (form.test(name) && !ofContainers.test(name)))
    .flatMap((name) => {
      const nearestFirst = settingNames
        .map((meant) => ({ meant, edits: editDistance(name, meant, Number.POSITIVE_INFINITY) }))
        .sort((a, b) => a.edits - b.edits);
      const [best] = nearestFirst;
      if (best && best.edits <= mostEdits(name)) return [{ name, meant: best.meant }];
      if (!families.has(firstWord(name))) return [];
      const [nearestOfFamily] = nearestFirst.filter(({ meant }) => firstWord(meant) === firstWord(name));
      return nearestOfFamily ? [{ name, meant: nearestOfFamily.meant }] : [];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
