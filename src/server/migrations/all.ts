/** All migrations in order. Add a new one to the file of its subject and to the end of this list; never change one that was released. */
import type { Migration } from '../database/migrate.ts';
import { access, accounts, operatorSessions, readingTimes } from './accounts.ts';
import { alerts } from './alerts.ts';
import { billing, cancellations } from './billing.ts';
import { cluster, clusterPurges, clusterSettings } from './cluster.ts';
import { headlineTests } from './headline-tests.ts';
import { jobs, jobsAddedAgain, stripeJobs } from './jobs.ts';
import { letters, mail } from './mail.ts';
import { comments, corrections, library, podcastFeeds, popularity, recentReadings } from './reading.ts';

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
  cluster,
  corrections,
  alerts,
  podcastFeeds,
  recentReadings,
  headlineTests,
  clusterSettings,
  readingTimes,
  jobsAddedAgain,
  clusterPurges,
];
