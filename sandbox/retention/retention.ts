/**
 * Stands in for Churnkey's script (https://docs.churnkey.co/cancel-flows/quick-start-guide): `/js/app.js?appId=…` provides
 * `window.churnkey.init('show', …)`, which opens a small dialog. Its options are at `/_sandbox/reports`.
 */
import { createHmac } from 'node:crypto';
import { withCallChecks } from '../third-party/third-party.ts';
import { json, listenWeb } from '../web.ts';

export interface RetentionAccess {
  readonly appId: string;
  readonly apiKey: string;
  readonly scriptUrl: string;
}

export interface Retention {
  readonly access: RetentionAccess;
  /** What `init` was called with, oldest first. */
  readonly reports: readonly WidgetReport[];
  stop(): Promise<void>;
}

export interface WidgetReport {
  readonly what: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly handlers: readonly string[];
}

const apiKey = 'key_of_the_sandbox';

/** The hash with which the site proves that the customer is its own. */
const hashOf = (customerId: string): string => createHmac('sha256', apiKey).update(customerId).digest('hex');
const wrongHash = 'authHash is not the HMAC-SHA256 of the customer’s ID with the API key';

const corsHeaders = { 'access-control-allow-origin': '*' };

export async function startRetention(): Promise<Retention> {
  const reports: WidgetReport[] = [];
  const script = withCallChecks('churnkey', 'widget.js', import.meta.dirname);
  const server = await listenWeb(
    [
      {
        method: 'GET',
        path: /^\/js\/app\.js$/,
        handle: ({ url }) =>
          url.searchParams.get('appId')
            ? {
                headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-store' },
                body: script,
              }
            : json({ error: 'appId is missing.' }, 400),
      },
      {
        method: 'GET',
        path: /^\/_sandbox\/report$/,
        handle({ url }) {
          const report = JSON.parse(url.searchParams.get('what') ?? '') as WidgetReport;
          reports.push(report);
          if (report.what !== 'fault' && report.options.authHash !== hashOf(String(report.options.customerId)))
            reports.push({ what: 'fault', options: { message: wrongHash }, handlers: [] });
          return { status: 204 };
        },
      },
      { method: 'GET', path: /^\/_sandbox\/reports$/, handle: () => json(reports, 200, corsHeaders) },
    ],
    { port: 0, name: "the sandbox's retention widget" },
  );
  return {
    access: { appId: 'app_sandbox', apiKey, scriptUrl: `${server.url}/js/app.js` },
    reports,
    stop: server.close,
  };
}
