/**
 * Starts the sandbox for `npm start`, `npm run dev` and the tests, as a child process that reports its progress as JSON lines.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EditionKind } from '../sandbox/edition/model.ts';
import type { SandboxAccess, WordPressAccess } from '../sandbox/start.ts';
import { parseJson } from '../src/lib/json.ts';
import { publication } from '../src/publication.ts';
import type { Environment, SandboxPorts } from './settings.ts';
import { Stop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';
import { startChild } from './setup/processes.mjs';

export type { SandboxAccess, WordPressAccess };

export interface SandboxChild {
  /** Resolves when WordPress answers and the edition is imported; rejects with what to do. */
  ready(progress: (note: string) => void): Promise<SandboxAccess>;
  /** Resolves when the child has ended, for any reason. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  stop(): Promise<void>;
}

interface Line extends Partial<SandboxAccess> {
  readonly progress?: string;
  readonly done?: number;
  readonly total?: number;
  readonly ready?: boolean;
  readonly error?: string;
  readonly hint?: string;
}

/** Starts the sandbox with a data folder; if the folder is empty, imports an edition, the demo by default. */
export function startSandbox(options: {
  readonly data: string;
  readonly ports: SandboxPorts;
  readonly siteUrl: string;
  readonly log: string;
  readonly env: Environment;
  readonly edition?: EditionKind;
}): SandboxChild {
  let note = 'starting';
  let report: ((note: string) => void) | undefined;
  const access = Promise.withResolvers<SandboxAccess>();
  // If the sandbox fails while the caller awaits something else, an unhandled rejection must not end this process.
  access.promise.catch(() => {});

  mkdirSync(join(options.log, '..'), { recursive: true });
  writeFileSync(options.log, '');
  const keep = (line: string) => appendFileSync(options.log, `${line}\n`);
  const child = startChild(
    process.execPath,
    [
      join(root, 'sandbox', 'main.ts'),
      ...['--data', options.data],
      ...['--port', String(options.ports.wordpress)],
      ...['--mailbox-port', String(options.ports.mailbox)],
      ...['--stripe-port', String(options.ports.stripe)],
      ...['--site-url', options.siteUrl],
      ...['--edition', options.edition ?? 'demo'],
    ],
    {
      cwd: root,
      env: options.env,
      onLine(text) {
        const line = text.startsWith('{') ? (parseJson(text) as Line | undefined) : undefined;
        if (!line) return keep(text);
        if (line.progress) {
          note = `${line.progress}${line.done === undefined ? '' : ` ${line.done}${line.total ? ` of ${line.total}` : ''}`}`;
          keep(note);
          report?.(note);
        }
        if (line.error) access.reject(new Stop(`${line.error} ${line.hint ?? ''}`.trim()));
        if (line.ready) access.resolve(line as SandboxAccess);
      },
      onErrorLine: keep,
    },
  );
  void child.ended.then(({ code, signal }) => {
    const tail = child.tail();
    access.reject(
      new Stop(
        `${tail ? `${tail}\n` : ''}The sandbox ended (${signal ?? code}) before it was ready. Its log: ${options.log}`,
      ),
    );
  });
  return {
    ready(progress) {
      report = progress;
      progress(note);
      return access.promise;
    },
    ended: child.ended,
    stop: child.stop,
  };
}

/** Ports and folders that must be free before the sandbox starts. */
export const portsOfSandbox = ({ wordpress, mailbox, stripe }: SandboxPorts) => [
  {
    port: wordpress,
    host: '127.0.0.1',
    setting: 'SANDBOX_WORDPRESS_PORT',
    purpose: "the sandbox's WordPress",
  },
  { port: mailbox, host: '127.0.0.1', setting: 'SANDBOX_MAILBOX_PORT', purpose: "the sandbox's mailbox" },
  { port: stripe, host: '127.0.0.1', setting: 'SANDBOX_STRIPE_PORT', purpose: "the sandbox's Stripe" },
];

/** The settings that make a site use this sandbox; settings that `env` already has stay. */
export function sandboxEnvironment(access: SandboxAccess, env: Environment): Environment {
  const { wordpress, mailbox, google, facebook, verifier, stripe, quotes, retention } = access;
  const unless = (setting: string, settings: Environment): Environment => (env[setting]?.trim() ? {} : settings);
  return {
    WORDPRESS_URL: wordpress.url,
    WORDPRESS_USER: wordpress.siteUser,
    WORDPRESS_APP_PASSWORD: wordpress.siteApplicationPassword,
    NEWSROOM_SECRET: wordpress.secret,
    // The crosswords of the demo edition are played on the sandbox's own host.
    FRAME_HOSTS: [env.FRAME_HOSTS, new URL(wordpress.url).host].filter(Boolean).join(','),
    ...unless('SMTP_URL', {
      SMTP_URL: mailbox.smtpUrl,
      // The mailbox accepts every address, so the check whether a domain exists is off.
      EMAIL_DNS_CHECK: env.EMAIL_DNS_CHECK?.trim() || 'off',
      MAIL_FROM: `${publication.name} <${publication.contact.email}>`,
    }),
    ...unless('GOOGLE_CLIENT_ID', {
      GOOGLE_CLIENT_ID: google.clientId,
      GOOGLE_CLIENT_SECRET: google.clientSecret,
      GOOGLE_ISSUER_URL: google.issuer,
    }),
    ...unless('FACEBOOK_CLIENT_ID', {
      FACEBOOK_CLIENT_ID: facebook.clientId,
      FACEBOOK_CLIENT_SECRET: facebook.clientSecret,
      FACEBOOK_URL: facebook.wwwUrl,
      FACEBOOK_GRAPH_URL: facebook.graphUrl,
    }),
    ...unless('STRIPE_SECRET_KEY', {
      STRIPE_SECRET_KEY: stripe.secretKey,
      STRIPE_PUBLISHABLE_KEY: stripe.publishableKey,
      STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
      STRIPE_API_URL: stripe.apiUrl,
      STRIPE_JS_URL: stripe.scriptUrl,
    }),
    ...(env.SANDBOX_THIRD_PARTIES?.trim() === 'on' && thirdPartyEnvironment(access)),
    // The site's own cancellation pages are shown, unless a setting turns on the widget.
    ...(env.CHURNKEY_APP_ID?.trim() &&
      unless('CHURNKEY_API_KEY', { CHURNKEY_API_KEY: retention.apiKey, CHURNKEY_SCRIPT_URL: retention.scriptUrl })),
    ...unless('EMAIL_VERIFIER_URL', {
      EMAIL_VERIFIER: 'kickbox',
      EMAIL_VERIFIER_URL: verifier.kickboxUrl,
      EMAIL_VERIFIER_KEY: verifier.key,
    }),
    // The demo edition tests headlines, without asking readers for consent.
    ...unless('HEADLINE_TESTS', { HEADLINE_TESTS: 'all' }),
    ...unless('QUOTES_KEY', { QUOTES_URL: quotes.url, QUOTES_KEY: quotes.key }),
  };
}

/**
 * Settings that make a site load third-party scripts, for which the sandbox has stand-ins. Without them a site has no consent banner and
 * only its own scripts, which is the default.
 */
export function thirdPartyEnvironment({
  thirdParty: { url },
  push,
}: Pick<SandboxAccess, 'thirdParty'> & Partial<Pick<SandboxAccess, 'push'>>): Environment {
  return {
    GTM_CONTAINER: 'GTM-SANDBOX',
    GTM_SCRIPT_URL: `${url}/gtm/gtm.js`,
    MARFEEL_ACCOUNT: '1234',
    MARFEEL_SCRIPT_URL: `${url}/marfeel/marfeel-sdk.js`,
    ONESIGNAL_APP_ID: '5a9db0c5-0000-4000-8000-000000000000',
    ONESIGNAL_SDK_URL: `${url}/onesignal`,
    ...(push && { ONESIGNAL_API_KEY: push.key, ONESIGNAL_API_URL: push.url }),
    GROWSURF_CAMPAIGN: 'sandbox',
    GROWSURF_SCRIPT_URL: `${url}/growsurf/growsurf.js`,
    CALENDLY_URL: `${url}/calendly/book/the-sun`,
    CALENDLY_SCRIPT_URL: `${url}/calendly/widget.js`,
    GPT_NETWORK: '1234567',
    GPT_SCRIPT_URL: `${url}/gpt/gpt.js`,
  };
}
