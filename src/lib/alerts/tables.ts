/** Table of the alerts' notifications, made by `src/server/migrations/alerts.ts`. */

export interface AlertPushesTable {
  /** Id of the alert: one row, and so one notification, for each. */
  alert: string;
  /** `waiting`, `sent`, `refused`, `unclear` or `stopped`. */
  state: string;
  /** Why, in words for the editor. */
  detail: string;
  created: number;
  tries: number;
  /** Not tried before; while a process is sending, the time after which another may. */
  due: number;
}

export interface AlertTables {
  alert_pushes: AlertPushesTable;
}
