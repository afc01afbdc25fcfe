/** What the newsletters keep of a user. */
import type { PersonalData } from '../personal-data.ts';
import type { Newsletters } from './service.server.ts';

export const newsletterData = (newsletters: Pick<Newsletters, 'exportData'>): PersonalData => ({
  tables: { mail_choices: 'gone' },
  export: ({ userId }) => newsletters.exportData(userId),
  // The choices hang on the account's row.
  erase: async () => {},
  disown: async (tx, userId) => void (await tx.deleteFrom('mail_choices').where('user_id', '=', userId).execute()),
});
