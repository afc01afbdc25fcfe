/** Settings as the commands see them: the environment, completed by the file `.env`. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { parseConfig } from '../src/server/config/config.ts';
import { Stop, throwAsStop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';

export type Environment = Record<string, string | undefined>;

/** Settings of `npm start`, `npm run dev` and the tests alone; the server does not know them. */
export const sandboxSettings = [
  'SANDBOX_WORDPRESS_PORT',
  'SANDBOX_MAILBOX_PORT',
  'SANDBOX_STRIPE_PORT',
  'SANDBOX_THIRD_PARTIES',
] as const;

/** Reads `.env`; what the environment has already set wins. */
export function readSettings(): Environment {
  const file = join(root, '.env');
  if (existsSync(file)) {
    try {
      process.loadEnvFile(file);
    } catch (error) {
      throw new Stop(`The file .env can't be read: ${(error as Error).message}`, { cause: error });
    }
  }
  return process.env;
}

/** Checks the settings before any long work, and stops with a list of every problem. */
export function checkSettings(env: Environment): ReturnType<typeof parseConfig> {
  try {
    return parseConfig(env);
  } catch (error) {
    return throwAsStop(error as Error);
  }
}

/**
 * Reads the arguments of a command.
 *
 * @param usage what to type, without `Usage:`
 * @throws Stop with the problem and how to use it
 */
export function readArguments<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  usage: string,
  allowPositionals = false,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals });
  } catch (error) {
    throw new Stop(`${(error as Error).message}\nUsage: ${usage}`, { cause: error });
  }
}

/**
 * Folder for the site's data. With the sandbox's edition it is another folder, so that production never serves that edition.
 */
export const siteFolder = (env: Environment, ownWordPress: boolean): string =>
  resolve(root, env.DATA_DIR?.trim() || (ownWordPress ? 'var/site' : 'var/demo'));

/**
 * The settings of a command that puts mail into the outbox of the running site. With the sandbox of `npm start`, only the site knows the
 * mail server: the command itself sends nothing, so any address will do.
 */
export function outboxSettings(env: Environment): Environment {
  const ownWordPress = checkSettings(env).wordpress !== null;
  const isDemo = !ownWordPress && !env.SMTP_URL;
  return {
    ...env,
    ...(isDemo && { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'The Sun <news@example.com>' }),
    DATA_DIR: siteFolder(env, ownWordPress),
  };
}

/**
 * Folder of the sandbox's WordPress. A second site on the machine needs its own data folder and sandbox folder, so one setting
 * moves both.
 */
export const sandboxFolder = (env: Environment): string => {
  const dataDir = env.DATA_DIR?.trim();
  return dataDir ? resolve(root, dataDir, 'sandbox') : resolve(root, 'var', 'sandbox');
};

export interface SandboxPorts {
  readonly wordpress: number;
  /** Port of the mailbox's page. */
  readonly mailbox: number;
  /** Of Stripe: its API and its page. */
  readonly stripe: number;
}

/** Ports of the sandbox that other programs have to know; its other parts take free ones. */
export const sandboxPorts = (env: Environment): SandboxPorts => ({
  wordpress: port(env, 'SANDBOX_WORDPRESS_PORT', 8881, "the sandbox's WordPress"),
  mailbox: port(env, 'SANDBOX_MAILBOX_PORT', 8882, "the sandbox's mailbox"),
  stripe: port(env, 'SANDBOX_STRIPE_PORT', 8883, "the sandbox's Stripe"),
});

function port(env: Environment, setting: (typeof sandboxSettings)[number], usual: number, purpose: string): number {
  const text = env[setting]?.trim() || String(usual);
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= 65_535) return value;
  throw new Stop(`${setting} is "${text}"; give the port for ${purpose}, a whole number from 1 to 65535.`);
}
