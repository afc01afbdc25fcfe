/** What the support inbox keeps of a user. */
import type { PersonalData } from '../personal-data.ts';
import type { Support } from './service.server.ts';

export const supportData = (support: Pick<Support, 'exportData' | 'forget'>): PersonalData => ({
  tables: { support_messages: 'gone' },
  export: support.exportData,
  erase: support.forget,
  // The support inbox keeps the message, but not as a message of this account.
  disown: async (tx, userId) =>
    void (await tx.updateTable('support_messages').set({ user_id: null }).where('user_id', '=', userId).execute()),
});
