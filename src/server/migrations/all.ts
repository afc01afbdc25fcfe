/** All migrations in order. A new one is a file of its own and a line at the end; one that was shipped is never changed. */
import type { Migration } from '../database/migrate.ts';
import { accounts } from './0001-accounts.ts';
import { mail } from './0002-mail.ts';
import { billing } from './0003-billing.ts';
import { access } from './0004-access.ts';
import { cancellations } from './0005-cancellations.ts';
import { letters } from './0006-letters.ts';
import { popularity } from './0007-popularity.ts';
import { comments } from './0008-comments.ts';
import { library } from './0009-library.ts';
import { operatorSessions } from './0011-operator-sessions.ts';
import { jobs } from './0012-jobs.ts';
import { stripeJobs } from './0013-stripe-jobs.ts';

export const migrations: readonly Migration[] = [
  accounts,
  mail,
  billing,
  access,
  cancellations,
  letters,
  popularity,
  comments,
  library,
  operatorSessions,
  jobs,
  stripeJobs,
];
