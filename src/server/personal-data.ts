/** The one list of what is kept of a user, run in this order; the account's own rows come last (lib/accounts). */
import type { PersonalData } from '../lib/personal-data.ts';

export interface PersonalDataList {
  /**
   * First of all: a leftover account can be deleted again, an orphaned subscription would keep charging. `null`: billing is off.
   */
  readonly billing: PersonalData | null;
  readonly newsletters: PersonalData;
  readonly support: PersonalData;
  /** `null`: comments are off. */
  readonly comments: PersonalData | null;
  readonly access: PersonalData;
  readonly library: PersonalData;
}

/** All of them as one. @param list asked each time: what writes comments needs the accounts first */
export function personalDataOf(list: () => PersonalDataList): PersonalData {
  const all = (): readonly PersonalData[] => {
    const { billing, newsletters, support, comments, access, library } = list();
    return [billing, newsletters, support, comments, access, library].filter((one) => one !== null);
  };
  return {
    get tables() {
      return Object.assign({}, ...all().map(({ tables }) => tables)) as PersonalData['tables'];
    },
    async export(user) {
      const parts: Readonly<Record<string, unknown>>[] = [];
      for (const one of all()) parts.push(await one.export(user));
      return Object.assign({}, ...parts) as Readonly<Record<string, unknown>>;
    },
    async erase(user) {
      for (const one of all()) await one.erase(user);
    },
    async erased(user) {
      for (const one of all()) await one.erased?.(user);
    },
    async disown(tx, userId) {
      for (const one of all()) await one.disown(tx, userId);
    },
  };
}
